"""What is told of a repository before a run begins."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path

import pytest

from stockman.adapters.git.probe import git_environment
from stockman.adapters.git.repository import LocalGitRepository
from stockman.app.runs.session import FollowedBranch, check_repository
from stockman.ports.repository import GitRepository
from tests.contract.repo.memory import MemoryRemote, MemoryRepo

FOLLOWED = FollowedBranch(url="https://github.com/me/home-ops.git", branch="main")


def told(repo: GitRepository, *, push: bool) -> list[tuple[str, bool]]:
    """Codes of problems, each with whether it is an error."""
    found = asyncio.run(check_repository(repo, FOLLOWED, push=push))
    return [(one.code, one.is_error) for one in found]


def repository(address: str = "git@github.com:me/home-ops.git") -> MemoryRepo:
    return MemoryRepo(MemoryRemote(address=address))


@pytest.mark.parametrize(
    "address",
    ["git@github.com:me/home-ops.git", "https://GitHub.com/me/home-ops", "../home-ops.git"],
)
def test_a_repository_that_can_be_pushed_is_not_spoken_of(address: str) -> None:
    assert told(repository(address), push=True) == []
    assert told(repository(address), push=False) == []


@pytest.mark.parametrize("push", [True, False])
def test_another_repository_than_the_cluster_follows_is_a_warning(push: bool) -> None:
    assert told(repository("git@github.com:me/k8s.git"), push=push) == [
        ("repo.other-remote", False)
    ]


@pytest.mark.parametrize("push", [True, False])
def test_the_placeholder_of_init_is_refused(push: bool) -> None:
    placeholder = FollowedBranch(url="https://github.com/example/k8s.git", branch="main")

    problems = asyncio.run(check_repository(repository(), placeholder, push=push))

    assert [(problem.code, problem.is_error) for problem in problems] == [
        ("repo.placeholder", True)
    ]


@pytest.mark.parametrize("push", [True, False])
def test_what_a_push_would_fail_for_is_an_error_only_where_one_is_wanted(push: bool) -> None:
    repo = MemoryRepo(None, branch="master")

    assert told(repo, push=push) == [("repo.no-remote", push), ("repo.other-branch", push)]


def test_who_commits_and_whether_the_remote_answers_matters_to_a_push_alone() -> None:
    nameless, down = repository(), repository()
    nameless.has_identity = False
    down.remote = MemoryRemote(address="git@github.com:me/home-ops.git", is_down=True)

    assert told(nameless, push=True) == [("repo.identity", True)]
    assert told(down, push=True) == [("repo.unreachable", True)]
    assert told(nameless, push=False) == told(down, push=False) == []


def test_what_others_pushed_is_told_before_a_push_is_refused() -> None:
    remote = MemoryRemote(address="git@github.com:me/home-ops.git")
    theirs, ours = MemoryRepo(remote), MemoryRepo(remote)
    theirs.files["README.md"] = b"theirs"

    async def pushed() -> None:
        await theirs.commit(["README.md"], "Theirs")
        await theirs.push()

    asyncio.run(pushed())

    assert told(theirs, push=True) == told(ours, push=False) == []
    assert told(ours, push=True) == [("repo.behind", True)]
    ours.clone()
    assert told(ours, push=True) == []


def test_no_repository_and_one_around_the_directory_are_told(tmp_path: Path) -> None:
    inside = tmp_path / "clusters" / "home"
    inside.mkdir(parents=True)

    assert told(LocalGitRepository(inside), push=False) == [("repo.none", False)]
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True, env=git_environment())
    assert told(LocalGitRepository(inside), push=True) == [("repo.below", True)]
