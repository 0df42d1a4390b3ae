"""CI that checks pull requests."""

from __future__ import annotations

import os
import subprocess
from typing import Any

import pytest
import yaml

from stockman.config.load import load
from tests.rendering.shapes import drawn, shaped, texts

GITHUB, GITLAB = ".github/workflows/stockman.yaml", ".gitlab-ci.yml"


@pytest.mark.parametrize(
    ("more", "path"),
    [
        ("", GITHUB),
        ("repository: {ci: gitlab}\n", GITLAB),
        ("repository: {ci: none}\n", None),
    ],
)
def test_the_ci_of_the_repository_gets_its_file(more: str, path: str | None) -> None:
    paths = texts(drawn(shaped(more))).keys()
    assert paths & {GITHUB, GITLAB} == ({path} if path else set())


WHEEL = f"https://example.com/stockman_talos-1.0.0-py3-none-any.whl#sha256={'a' * 64}"
IMAGE = f"registry.example.com/stockman:1.0.0@sha256:{'b' * 64}"
CHECKS = ["stockman validate", "stockman render --check"]


def github(more: str) -> dict[str, Any]:
    job: dict[str, Any] = yaml.safe_load(texts(drawn(shaped(more)))[GITHUB])["jobs"]["check"]
    return job


def gitlab(more: str) -> dict[str, Any]:
    text = texts(drawn(shaped(f"repository: {{ci: gitlab{more}}}\n")))[GITLAB]
    job: dict[str, Any] = yaml.safe_load(text)["stockman"]
    return job


def installed(script: str, package: str) -> tuple[int, str]:
    """Run an installation with a `pip` that prints what it installs."""
    done = subprocess.run(
        ["sh", "-ec", f'pip() {{ echo "$@"; }}\n{script}'],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "STOCKMAN_PACKAGE": package},
    )
    return done.returncode, done.stdout.strip()


def test_github_checks_pull_requests() -> None:
    content = yaml.safe_load(texts(drawn(shaped()))[GITHUB])
    steps = content["jobs"]["check"]["steps"]

    assert content["on"] == {"pull_request": {}}
    assert content["permissions"] == {"contents": "read"}
    assert [step["uses"].partition("@")[2].count(".") for step in steps if "uses" in step] == [2, 2]
    assert [step["run"] for step in steps if "run" in step][1:] == CHECKS
    (variables,) = [step["env"] for step in steps if "env" in step]
    assert variables == {"STOCKMAN_PACKAGE": "${{ vars.STOCKMAN_PACKAGE }}"}


def test_gitlab_checks_merge_requests() -> None:
    job = gitlab("")

    assert job["rules"] == [{"if": '$CI_PIPELINE_SOURCE == "merge_request_event"'}]
    assert job["image"].count(":") == 1
    assert job["script"][-2:] == CHECKS
    assert "variables" not in job


def test_only_a_wheel_with_a_hash_is_installed() -> None:
    script = github("")["steps"][2]["run"]

    assert script.splitlines() == gitlab("")["script"][:-2]
    assert installed(script, WHEEL) == (0, f"install {WHEEL}")
    for package in ("", "stockman", "stockman==1.0", WHEEL.partition("#")[0], WHEEL[8:]):
        assert installed(script, package) == (1, "")


def test_the_configuration_may_name_the_wheel() -> None:
    assert github(f"repository: {{package: '{WHEEL}'}}\n")["steps"][2]["env"] == {
        "STOCKMAN_PACKAGE": WHEEL
    }
    assert gitlab(f", package: '{WHEEL}'")["variables"] == {"STOCKMAN_PACKAGE": WHEEL}


def test_an_image_needs_no_installation() -> None:
    job = github(f"repository: {{package: '{IMAGE}'}}\n")

    assert job["container"] == IMAGE
    assert [step["run"] for step in job["steps"] if "run" in step] == CHECKS
    other = gitlab(f", package: '{IMAGE}'")
    assert (other["image"], other["script"]) == (IMAGE, CHECKS)


@pytest.mark.parametrize(
    "package", ["stockman", "stockman==1.0", WHEEL[:-1], IMAGE.partition("@")[0]]
)
def test_a_package_without_a_hash_is_refused(package: str) -> None:
    files = {"cluster.yaml": f"repository: {{package: '{package}'}}\n".encode()}

    assert "config.value" in [problem.code for problem in load(files).problems]


def test_no_secret_is_asked_for() -> None:
    for more, path in (("", GITHUB), ("repository: {ci: gitlab}\n", GITLAB)):
        text = texts(drawn(shaped(more)))[path]
        assert "secrets." not in text
        assert "SOPS" not in text
