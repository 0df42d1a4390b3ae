"""Whether Flux can read the repository, before anything waits for Flux."""

from __future__ import annotations

import asyncio

import pytest

from stockman.ports.repository import RemoteBranch
from stockman.steps.base import GateAnswer, Verdict
from stockman.steps.repository import RepositoryReadable
from tests.contract.repo.memory import MemoryRemote, MemoryRepo
from tests.steps.test_kube_pushed import FILE, ports

URL = "ssh://git@github.com/me/home-ops.git"
BRANCH = RemoteBranch(url=URL, branch="main", key_files=("github-deploy.key",))


def verdict(remote: MemoryRemote, branch: RemoteBranch = BRANCH) -> Verdict:
    repo = MemoryRepo(remote)
    repo.files[FILE] = b"one"
    asyncio.run(repo.commit([FILE], "One"))
    asyncio.run(repo.push())
    return asyncio.run(RepositoryReadable(remote=branch).check(ports(repo)))


def test_a_registered_deploy_key_opens_the_gate() -> None:
    remote = MemoryRemote(address="git@github.com:me/home-ops.git", readable=frozenset({URL}))

    assert verdict(remote).answer is GateAnswer.GO


def test_a_deploy_key_that_is_not_registered_stops_before_anything_waits() -> None:
    stop = verdict(MemoryRemote(address="git@github.com:me/home-ops.git"))

    assert stop.answer is GateAnswer.STOP
    assert "Permission denied (publickey)" in stop.because
    assert "register the public part of the deploy key" in stop.fix


def test_a_missing_branch_stops() -> None:
    remote = MemoryRemote(address="git@github.com:me/home-ops.git", readable=frozenset({URL}))
    other = RemoteBranch(url=URL, branch="stable", key_files=BRANCH.key_files)

    assert "it has no branch stable" in verdict(remote, other).because


@pytest.mark.parametrize("address", ["../repo.git", "/srv/repo.git", "file:///srv/repo.git"])
def test_a_local_remote_is_not_checked(address: str) -> None:
    assert verdict(MemoryRemote(address=address)).answer is GateAnswer.GO
