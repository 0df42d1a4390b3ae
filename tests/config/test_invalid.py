"""Every broken input shows exactly the problems that belong to it, each at its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from stockman.config.load import CONFIG_FILES, LoadedConfig, load
from stockman.config.rules import check_rules

TESTS = Path(__file__).parent.parent


def checked(directory: Path) -> LoadedConfig:
    contents = {
        name: (directory / name).read_bytes()
        for name in CONFIG_FILES
        if (directory / name).exists()
    }
    loaded = load(contents)
    check_rules(loaded)
    return loaded


def directories(name: str) -> list[Path]:
    return sorted(path for path in (TESTS / name).iterdir() if path.is_dir())


@pytest.mark.parametrize("directory", directories("invalid"), ids=lambda path: path.name)
def test_a_broken_input_shows_its_problems(directory: Path) -> None:
    found = [
        f"{problem.severity.value} {problem.code} {problem.where}"
        for problem in checked(directory).problems
    ]

    assert found == (directory / "expected").read_text().splitlines()


@pytest.mark.parametrize("directory", directories("invalid"), ids=lambda path: path.name)
def test_every_problem_has_reason_and_fix(directory: Path) -> None:
    for problem in checked(directory).problems:
        assert problem.what
        assert problem.why
        assert problem.fix
        assert not {"invalid", "failed to", "unexpected", "please"} & set(problem.what.split())


@pytest.mark.parametrize("directory", directories("valid"), ids=lambda path: path.name)
def test_a_right_input_shows_none(directory: Path) -> None:
    assert list(checked(directory).problems) == []


def test_there_are_enough_broken_inputs() -> None:
    assert len(directories("invalid")) >= 30
