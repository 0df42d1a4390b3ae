"""CI that checks pull requests."""

from __future__ import annotations

import pytest
import yaml

from stockman import __version__
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


def test_github_checks_pull_requests_with_the_version_that_rendered() -> None:
    content = yaml.safe_load(texts(drawn(shaped()))[GITHUB])
    steps = content["jobs"]["check"]["steps"]

    assert content["on"] == {"pull_request": {}}
    assert content["permissions"] == {"contents": "read"}
    assert [step["uses"].partition("@")[2].count(".") for step in steps if "uses" in step] == [2, 2]
    (package,) = [step["env"] for step in steps if "env" in step]
    assert f"'stockman=={__version__}'" in package["STOCKMAN_PACKAGE"]
    assert [step["run"] for step in steps if "run" in step] == [
        'pip install "$STOCKMAN_PACKAGE"',
        "stockman validate",
        "stockman render --check",
    ]


def test_gitlab_checks_merge_requests() -> None:
    content = yaml.safe_load(texts(drawn(shaped("repository: {ci: gitlab}\n")))[GITLAB])
    job = content["stockman"]

    assert job["rules"] == [{"if": '$CI_PIPELINE_SOURCE == "merge_request_event"'}]
    assert job["image"].count(":") == 1
    assert job["script"] == [
        f'pip install "${{STOCKMAN_PACKAGE:-stockman=={__version__}}}"',
        "stockman validate",
        "stockman render --check",
    ]


def test_no_secret_is_asked_for() -> None:
    for more, path in (("", GITHUB), ("repository: {ci: gitlab}\n", GITLAB)):
        text = texts(drawn(shaped(more)))[path]
        assert "secrets." not in text
        assert "SOPS" not in text
