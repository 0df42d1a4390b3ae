"""Whether the pushed commit is what was rendered."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

from stockman.steps.base import GateAnswer
from stockman.steps.kubernetes.flux import NoPendingSecrets
from stockman.steps.ports import Ports
from stockman.steps.repository import CommitPushed, PushRepository
from tests.contract.repo.memory import MemoryRemote, MemoryRepo
from tests.steps.kube_cluster import Dice

GATE = CommitPushed(branch="main")
FILE = "kubernetes/apps/echo.yaml"


class Noon:
    def now(self) -> datetime:
        return datetime(2026, 8, 1, 12, tzinfo=UTC)

    async def sleep(self, seconds: float) -> None:
        raise AssertionError(seconds)


def repo(*, pushed: bool = True) -> MemoryRepo:
    memory_repo = MemoryRepo(MemoryRemote())
    memory_repo.files[FILE] = b"one"
    asyncio.run(memory_repo.commit([FILE], "One"))
    if pushed:
        asyncio.run(memory_repo.push())
    return memory_repo


def ports(memory_repo: MemoryRepo) -> Ports:
    return Ports(clock=Noon(), entropy=Dice(), repo=memory_repo)


def told(memory_repo: MemoryRepo) -> tuple[GateAnswer, str]:
    verdict = asyncio.run(GATE.check(ports(memory_repo)))
    return verdict.answer, verdict.because


def test_what_is_pushed_opens_the_gate() -> None:
    assert told(repo())[0] is GateAnswer.GO


def test_a_commit_that_is_not_pushed_stops() -> None:
    answer, because = told(repo(pushed=False))

    assert answer is GateAnswer.STOP
    assert "the remote has no such branch, here is" in because
    assert "apply --push" in because


def test_a_rendered_file_that_is_not_committed_stops() -> None:
    repository = repo()
    repository.files[FILE] = b"two"

    answer, because = told(repository)

    assert answer is GateAnswer.STOP
    assert because.startswith(f"not committed: {FILE}")


def test_files_that_the_cluster_does_not_follow_do_not_matter() -> None:
    repository = repo()
    repository.files["notes.txt"] = b"mine"

    assert told(repository)[0] is GateAnswer.GO


def test_another_branch_stops() -> None:
    repository = repo()
    repository.branch = "trial"

    assert told(repository)[0] is GateAnswer.STOP


def test_pushing_commits_what_was_rendered_and_nothing_else() -> None:
    repository = repo()
    repository.files |= {FILE: b"two", "notes.txt": b"mine"}
    push = PushRepository(branch="main")
    assert not asyncio.run(push.done(ports(repository)))

    asyncio.run(push.run(ports(repository)))
    asyncio.run(push.run(ports(repository)))

    assert asyncio.run(push.done(ports(repository)))
    assert asyncio.run(repository.state()).dirty == ("notes.txt",)
    assert told(repository)[0] is GateAnswer.GO


def test_a_pull_request_is_pushed_once_and_waited_for() -> None:
    repository = repo()
    repository.files[FILE] = b"two"
    push = PushRepository(branch="main", pull_request="update", message="Update echo")
    gate = CommitPushed(branch="main", pull_request="update")

    asyncio.run(push.run(ports(repository)))
    waiting = asyncio.run(gate.check(ports(repository)))

    assert asyncio.run(push.done(ports(repository)))
    assert waiting.answer is GateAnswer.STOP
    assert "merge branch update into main" in waiting.because
    state = asyncio.run(repository.state())
    assert state.commit is not None
    assert asyncio.run(repository.commits(state.commit, most=1))[0].subject == "Update echo"

    asyncio.run(repository.push())
    assert asyncio.run(gate.check(ports(repository))).answer is GateAnswer.GO


def test_what_waits_for_a_secret_stops() -> None:
    gate = NoPendingSecrets(pending=("proxmox-ccm waits for its token",))

    verdict = asyncio.run(gate.check(ports(repo())))

    assert verdict.answer is GateAnswer.STOP
    assert "proxmox-ccm" in verdict.because
