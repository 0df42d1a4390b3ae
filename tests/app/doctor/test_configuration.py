"""Checks of the configuration files."""

import pytest

from stockman.assessment.doctor.check import CheckStatus
from stockman.assessment.doctor.machine import files, in_git, valid
from stockman.model.problem import Problem, Severity
from stockman.ports.environment import FileStatus, GitFileState, WorkTree
from tests.app.doctor.fakes import OPEN, FakeMachine, FakeRepo, found, scene

TREE = WorkTree(branch="main", has_commits=True, remotes=())
ERROR = Problem(code="x.y", what="it is wrong", why="because", fix="do it right")
WARNING = Problem(
    code="x.y", what="it is odd", why="because", fix="do it right", severity=Severity.WARNING
)


def test_both_files_of_the_classic_dialect_are_expected() -> None:
    findings = found(files, scene(machine=FakeMachine({"cluster.yaml": OPEN})))

    assert [(finding.subject, finding.status) for finding in findings] == [
        ("cluster.yaml", CheckStatus.OK),
        ("nodes.yaml", CheckStatus.FAIL),
    ]


def test_one_file_is_the_whole_of_the_other_dialect() -> None:
    findings = found(files, scene(machine=FakeMachine({"cluster.toml": OPEN})))

    assert [(finding.subject, finding.status) for finding in findings] == [
        ("cluster.toml", CheckStatus.OK)
    ]


@pytest.mark.parametrize(
    ("facts", "seen"),
    [
        (FileStatus(mode=0o644, is_file=True, readable=False), "it is not readable"),
        (FileStatus(mode=0o755, is_file=False, readable=True), "it is not a file"),
    ],
)
def test_a_file_that_cannot_be_read_fails(facts: FileStatus, seen: str) -> None:
    (finding,) = found(files, scene(machine=FakeMachine({"cluster.toml": facts})))

    assert (finding.status, finding.summary) == (CheckStatus.FAIL, seen)


def test_without_files_there_is_one_failure() -> None:
    bare = scene(machine=FakeMachine({}))

    assert [proxmox_access.status for proxmox_access in found(files, bare)] == [CheckStatus.FAIL]
    assert [proxmox_access.status for proxmox_access in found(valid, bare)] == [CheckStatus.SKIP]
    assert found(in_git, bare) == []


@pytest.mark.parametrize(
    ("problems", "status", "seen"),
    [
        ((), CheckStatus.OK, "no mistakes"),
        ((WARNING,), CheckStatus.WARN, "1 warning"),
        ((ERROR, ERROR), CheckStatus.FAIL, "2 errors"),
        ((ERROR, WARNING, WARNING), CheckStatus.FAIL, "1 error and 2 warnings"),
    ],
)
def test_mistakes_are_counted_and_left_to_validate(
    problems: tuple[Problem, ...], status: CheckStatus, seen: str
) -> None:
    (finding,) = found(valid, scene(problems=problems))

    assert (finding.status, finding.summary) == (status, seen)
    assert ("stockman validate" in finding.fix) is (status is not CheckStatus.OK)


@pytest.mark.parametrize(
    ("standing", "status"),
    [("tracked", CheckStatus.OK), ("untracked", CheckStatus.WARN), ("ignored", CheckStatus.WARN)],
)
def test_files_should_be_tracked(standing: GitFileState, status: CheckStatus) -> None:
    repo = FakeRepo(TREE, standings={"cluster.yaml": standing, "nodes.yaml": "tracked"})

    first, second = found(in_git, scene(repo=repo))

    assert (first.subject, first.status) == ("cluster.yaml", status)
    assert (second.subject, second.status) == ("nodes.yaml", CheckStatus.OK)


def test_what_no_repository_tracks_is_not_judged() -> None:
    assert {proxmox_access.status for proxmox_access in found(in_git, scene(repo=FakeRepo()))} == {
        CheckStatus.SKIP
    }


def test_where_git_is_silent_tracking_is_unknown() -> None:
    silent = scene(repo=FakeRepo(silent="git says: no"))

    assert {proxmox_access.status for proxmox_access in found(in_git, silent)} == {
        CheckStatus.UNKNOWN
    }
