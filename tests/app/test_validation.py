"""Validation of a directory: files, rules, and secrets that git would keep."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from stockman.app.validation import validate
from stockman.app.workspace import read_directory
from stockman.model.errors import NotFound, StockmanError
from stockman.model.problem import Severity
from tests.config.written import CLUSTER, NODES

CANARY = "canary-0b7e5f"


def directory_with(tmp_path: Path, cluster: str = CLUSTER) -> Path:
    (tmp_path / "cluster.yaml").write_text(cluster)
    (tmp_path / "nodes.yaml").write_text(NODES)
    return tmp_path


def git(directory: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=directory, check=True, capture_output=True)


def test_a_right_directory_has_no_problems(tmp_path: Path) -> None:
    assert not validate(directory_with(tmp_path)).problems


@pytest.mark.parametrize(
    ("prepare", "severity"),
    [
        ([], Severity.WARNING),
        ([("init",)], Severity.ERROR),
        ([("init",), ("add", "cluster.yaml")], Severity.ERROR),
    ],
)
def test_a_literal_secret_is_refused_where_git_would_keep_it(
    tmp_path: Path, prepare: list[tuple[str, ...]], severity: Severity
) -> None:
    directory = directory_with(tmp_path, CLUSTER.replace("${PROXMOX_TOKEN}", CANARY))
    for command in prepare:
        git(directory, *command)

    (problem,) = validate(directory).problems

    assert (problem.code, problem.severity) == ("secret.exposed", severity)
    assert str(problem.where) == "cluster.yaml:11:23"
    assert CANARY not in str(problem)


def test_a_literal_secret_in_an_ignored_file_is_a_warning(tmp_path: Path) -> None:
    directory = directory_with(tmp_path, CLUSTER.replace("${PROXMOX_TOKEN}", CANARY))
    git(directory, "init")
    (directory / ".gitignore").write_text("cluster.yaml\n")

    (problem,) = validate(directory).problems

    assert problem.severity is Severity.WARNING


def test_a_directory_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"workspace\.no-directory"):
        read_directory(tmp_path / "nowhere")


def test_a_file_that_is_a_directory_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "cluster.yaml").mkdir()

    with pytest.raises(StockmanError, match=r"workspace\.unreadable"):
        read_directory(tmp_path)
