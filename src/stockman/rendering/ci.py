"""CI jobs that check pull requests: the configuration is valid and the repository is rendered."""

from __future__ import annotations

from collections.abc import Iterator

from stockman import __version__
from stockman.config.writers.yaml_writer import Commented, render_yaml_document
from stockman.model.desired import Repository
from stockman.rendering.tree import REPOSITORY, RenderedFile

GITHUB = ".github/workflows/stockman.yaml"
GITLAB = ".gitlab-ci.yml"

_PYTHON = "3.13"
_CHECKOUT = "actions/checkout@v5.0.0"
_SETUP_PYTHON = "actions/setup-python@v6.0.0"
_IMAGE = "docker.io/library/python:3.13.7-slim"
_PACKAGE = f"stockman=={__version__}"
_CHECKS = ("stockman validate", "stockman render --check")
_ABOUT = (
    "Checks the configuration, and that all rendered files are up to date.",
    "No secrets are needed: without an identity, encrypted files are compared by their bytes.",
    "The version is the one that rendered this repository, because the output depends on it. The",
    "repository variable STOCKMAN_PACKAGE selects another package, such as the URL of a wheel.",
)


def ci_files(repository: Repository) -> Iterator[RenderedFile]:
    """Return the CI file for the host of the repository; none for other hosts."""
    if repository.ci == "github":
        yield RenderedFile(path=GITHUB, owner=REPOSITORY, text=render_yaml_document(_github()))
    elif repository.ci == "gitlab":
        yield RenderedFile(path=GITLAB, owner=REPOSITORY, text=render_yaml_document(_gitlab()))


def _github() -> dict[str, object]:
    steps: list[object] = [
        {"uses": _CHECKOUT, "with": {"persist-credentials": False}},
        {"uses": _SETUP_PYTHON, "with": {"python-version": _PYTHON}},
        {
            "run": 'pip install "$STOCKMAN_PACKAGE"',
            "env": {"STOCKMAN_PACKAGE": f"${{{{ vars.STOCKMAN_PACKAGE || '{_PACKAGE}' }}}}"},
        },
        *({"run": command} for command in _CHECKS),
    ]
    return {
        "name": Commented(value="stockman", above=_ABOUT),
        "on": {"pull_request": {}},
        "permissions": {"contents": "read"},
        "jobs": {"check": {"runs-on": "ubuntu-24.04", "timeout-minutes": 10, "steps": steps}},
    }


def _gitlab() -> dict[str, object]:
    return {
        "stockman": Commented(
            value={
                "image": _IMAGE,
                "rules": [{"if": '$CI_PIPELINE_SOURCE == "merge_request_event"'}],
                "script": [f'pip install "${{STOCKMAN_PACKAGE:-{_PACKAGE}}}"', *_CHECKS],
            },
            above=_ABOUT,
        )
    }
