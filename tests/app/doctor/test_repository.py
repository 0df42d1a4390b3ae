"""Checks of git and of the repository."""

import pytest

from stockman.assessment.doctor.check import CheckStatus
from stockman.assessment.doctor.machine import branch, program, remote, work_tree
from stockman.ports.environment import Remote, WorkTree
from tests.app.doctor.fakes import CLUSTER, ORIGIN, PLANTED, FakeRepo, found, scene


def repo(branch: str | None = "main", *remotes: Remote, has_commits: bool = True) -> FakeRepo:
    return FakeRepo(WorkTree(branch=branch, has_commits=has_commits, remotes=remotes))


@pytest.mark.parametrize(
    ("version", "status"),
    [
        ("2.40.1", CheckStatus.OK),
        ("2.30.0", CheckStatus.OK),
        ("3.0", CheckStatus.OK),
        ("2.29.9", CheckStatus.WARN),
        ("1.9", CheckStatus.WARN),
        (None, CheckStatus.FAIL),
    ],
)
def test_git_has_to_be_there_and_not_too_old(version: str | None, status: CheckStatus) -> None:
    (finding,) = found(program, scene(repo=FakeRepo(version=version)))

    assert finding.status is status


def test_a_git_that_does_not_answer_is_no_git() -> None:
    (finding,) = found(program, scene(repo=FakeRepo(silent="git gave no answer within 3 s")))

    assert (finding.status, finding.summary) == (CheckStatus.FAIL, "git gave no answer within 3 s")


@pytest.mark.parametrize(
    ("seen", "status"),
    [
        (repo(), CheckStatus.OK),
        (repo(has_commits=False), CheckStatus.WARN),
        (FakeRepo(), CheckStatus.WARN),
        (FakeRepo(silent="git says: dubious ownership"), CheckStatus.UNKNOWN),
    ],
)
def test_the_directory_should_be_in_a_repository(seen: FakeRepo, status: CheckStatus) -> None:
    (finding,) = found(work_tree, scene(repo=seen))

    assert finding.status is status


@pytest.mark.parametrize(
    ("seen", "status"),
    [
        (repo("main"), CheckStatus.OK),
        (repo("try-out"), CheckStatus.WARN),
        (repo(None), CheckStatus.WARN),
        (FakeRepo(), CheckStatus.SKIP),
        (FakeRepo(silent="git says: no"), CheckStatus.SKIP),
    ],
)
def test_the_branch_should_be_the_one_that_is_followed(seen: FakeRepo, status: CheckStatus) -> None:
    (finding,) = found(branch, scene(repo=seen))

    assert finding.status is status


def test_the_branch_that_is_followed_is_named_with_its_key() -> None:
    (finding,) = found(branch, scene(CLUSTER + "repository_branch: live\n", repo=repo("main")))

    assert finding.summary == "main is checked out, and the cluster follows live"
    assert "repository_branch (cluster.yaml:14:" in finding.fix


def test_a_remote_that_is_followed_is_well() -> None:
    (finding,) = found(remote, scene(repo=repo("main", ORIGIN)))

    assert (finding.status, finding.summary) == (CheckStatus.OK, "origin is git.test/owner/repo")


def test_another_remote_is_not_the_one_that_is_followed() -> None:
    other = Remote(name="origin", url="git@git.test:owner/other.git")

    (finding,) = found(remote, scene(repo=repo("main", other)))

    assert finding.status is CheckStatus.WARN
    assert finding.summary == "none is git.test/owner/repo, which the cluster follows"


def test_without_a_remote_the_fix_names_the_address() -> None:
    (finding,) = found(remote, scene(repo=repo("main")))

    assert finding.status is CheckStatus.WARN
    assert finding.fix == "run `git remote add origin https://git.test/owner/repo.git`"


def test_any_remote_will_do_where_none_is_followed() -> None:
    (finding,) = found(remote, scene("cluster: {name: meadow}\n", repo=repo("main", ORIGIN)))

    assert finding.status is CheckStatus.OK


def test_a_password_in_a_remote_is_told_and_never_shown() -> None:
    secret = Remote(name="origin", url=f"https://me:{PLANTED}@git.test/owner/repo.git")

    findings = found(remote, scene(repo=repo("main", secret)))

    assert [finding.status for finding in findings] == [CheckStatus.WARN, CheckStatus.OK]
    assert PLANTED not in repr(findings)
