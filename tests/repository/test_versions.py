"""The Python versions, which several files have to name, are the same in all of them."""

import re
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
OLDEST = PROJECT["project"]["requires-python"].removeprefix(">=")


def test_the_oldest_version_is_the_one_that_tools_look_at() -> None:
    assert PROJECT["tool"]["mypy"]["python_version"] == OLDEST
    assert PROJECT["tool"]["ruff"]["target-version"] == f"py{OLDEST.replace('.', '')}"


def test_the_oldest_version_is_the_one_that_requirements_are_locked_for() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")

    assert f"--python-version {OLDEST} " in makefile


def test_the_oldest_version_is_the_one_that_set_up_asks_for() -> None:
    script = (ROOT / "scripts" / "with-environment").read_text("utf-8")

    assert set(re.findall(r"([\d.]+) or newer", script)) == {OLDEST}


def test_hosted_runs_try_every_version_that_the_package_claims() -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text("utf-8"))
    classifiers = "\n".join(PROJECT["project"]["classifiers"])

    tried = workflow["jobs"]["test"]["strategy"]["matrix"]["python"]

    assert tried == re.findall(r":: (3\.\d+)$", classifiers, re.MULTILINE)
    assert tried[0] == OLDEST
