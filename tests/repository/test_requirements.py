"""The locked requirements: whole, hashed, without an address, and as pyproject.toml asks."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "requirements").iterdir())
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
ASKED = {
    "run": PROJECT["project"]["dependencies"],
    "build": [*PROJECT["dependency-groups"]["build"], *PROJECT["build-system"]["requires"]],
    "dev": [d for d in PROJECT["dependency-groups"]["dev"] if isinstance(d, str)],
    "judges": PROJECT["dependency-groups"]["judges"],
    "lock": PROJECT["dependency-groups"]["lock"],
}


def test_there_is_one_file_for_each_use() -> None:
    assert {file.stem for file in FILES} == set(ASKED)


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.name))
def test_a_file_names_no_address_to_download_from(file: Path) -> None:
    text = file.read_text("utf-8")

    assert "://" not in text
    assert not re.search(r"^\s*--?(?!hash=)\w", text, re.MULTILINE)


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.name))
def test_every_package_is_pinned_with_hashes(file: Path) -> None:
    text = re.sub(r"\s*#.*", "", file.read_text("utf-8"))
    packages = re.split(r"\n(?=\S)", text.strip())

    for package in packages:
        assert re.match(r"[\w.-]+==\S+.*( \\\n +--hash=sha256:[0-9a-f]{64})+$", package), package


@pytest.mark.parametrize("use", sorted(ASKED))
def test_the_pins_are_what_the_project_asks_for(use: str) -> None:
    pins = _pins(use)

    for text in ASKED[use]:
        requirement = Requirement(text)
        assert requirement.specifier.contains(pins[canonicalize_name(requirement.name)]), text


@pytest.mark.parametrize("part", ["run", "build"])
def test_the_development_set_holds_the_same_versions_as_its_parts(part: str) -> None:
    assert _pins(part).items() <= _pins("dev").items()


def test_judges_leave_the_versions_of_the_development_set_as_they_are() -> None:
    development, judges = _pins("dev"), _pins("judges")

    shared = development.keys() & judges.keys()
    assert {name: judges[name] for name in shared} == {name: development[name] for name in shared}


def test_the_tests_of_make_test_need_no_judge() -> None:
    assert not _pins("dev").keys() & {"makejinja", "proxmoxer"}


def _pins(use: str) -> dict[str, str]:
    text = (ROOT / "requirements" / f"{use}.txt").read_text("utf-8")
    pairs = re.findall(r"^([\w.-]+)==([^\s;]+)", text, re.MULTILINE)
    return {canonicalize_name(name): version for name, version in pairs}
