"""Checks of git and of the repository."""

import pytest

from stockman.app.doctor.finding import Status
from stockman.app.doctor.repository import branch, program, remote, work_tree
from stockman.ports.probe import Remote, WorkTree
from tests.app.doctor.fakes import CLUSTER, ORIGIN, PLANTED, FakeRepo, found, scene


def repo(branch: str | None = "main", *remotes: Remote, has_commits: bool = True) -> FakeRepo:
    return FakeRepo(WorkTree(branch=branch, has_commits=has_commits, remotes=remotes))


@pytest.mark.parametrize(
    ("version", "status"),
    [
        ("2.40.1", Status.OK),
        ("2.30.0", Status.OK),
        ("3.0", Status.OK),
        ("2.29.9", Status.WARN),
        ("1.9", Status.WARN),
        (None, Status.FAIL),
    ],
)
def test_git_has_to_be_there_and_not_too_old(version: str | None, status: Status) -> None:
    (finding,) = found(program, scene(repo=FakeRepo(version=version)))

    assert finding.status is status


def test_a_git_that_does_not_answer_is_no_git() -> None:
    (finding,) = found(program, scene(repo=FakeRepo(silent="git gave no answer within 3 s")))

    assert (finding.status, finding.seen) == (Status.FAIL, "git gave no answer within 3 s")


@pytest.mark.parametrize(
    ("seen", "status"),
    [
        (repo(), Status.OK),
        (repo(has_commits=False), Status.WARN),
        (FakeRepo(), Status.WARN),
        (FakeRepo(silent="git says: dubious ownership"), Status.UNKNOWN),
    ],
)
def test_the_directory_should_be_in_a_repository(seen: FakeRepo, status: Status) -> None:
    (finding,) = found(work_tree, scene(repo=seen))

    assert finding.status is status


@pytest.mark.parametrize(
    ("seen", "status"),
    [
        (repo("main"), Status.OK),
        (repo("try-out"), Status.WARN),
        (repo(None), Status.WARN),
        (FakeRepo(), Status.SKIP),
        (FakeRepo(silent="git says: no"), Status.SKIP),
    ],
)
def test_the_branch_should_be_the_one_that_is_followed(seen: FakeRepo, status: Status) -> None:
    (finding,) = found(branch, scene(repo=seen))

    assert finding.status is status


def test_the_branch_that_is_followed_is_named_with_its_key() -> None:
    (finding,) = found(branch, scene(CLUSTER + "repository_branch: live\n", repo=repo("main")))

    assert finding.seen == "main is checked out, and the cluster follows live"
    assert "repository_branch (cluster.yaml:14:" in finding.fix


def test_a_remote_that_is_followed_is_well() -> None:
    (finding,) = found(remote, scene(repo=repo("main", ORIGIN)))

    assert (finding.status, finding.seen) == (Status.OK, "origin is git.test/owner/repo")


def test_another_remote_is_not_the_one_that_is_followed() -> None:
    other = Remote(name="origin", url="git@git.test:owner/other.git")

    (finding,) = found(remote, scene(repo=repo("main", other)))

    assert finding.status is Status.WARN
    assert finding.seen == "none is git.test/owner/repo, which the cluster follows"


def test_without_a_remote_the_fix_names_the_address() -> None:
    (finding,) = found(remote, scene(repo=repo("main")))

    assert finding.status is Status.WARN
    assert finding.fix == "run `git remote add origin https://git.test/owner/repo.git`"


def test_any_remote_will_do_where_none_is_followed() -> None:
    (finding,) = found(remote, scene("cluster: {name: meadow}\n", repo=repo("main", ORIGIN)))

    assert finding.status is Status.OK


def test_a_password_in_a_remote_is_told_and_never_shown() -> None:
    secret = Remote(name="origin", url=f"https://me:{PLANTED}@git.test/owner/repo.git")

    findings = found(remote, scene(repo=repo("main", secret)))

    assert [one.status for one in findings] == [Status.WARN, Status.OK]
    assert PLANTED not in repr(findings)
