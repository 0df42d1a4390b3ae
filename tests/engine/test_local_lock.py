"""The lock in a file: free as soon as its process is gone, and never held by two."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from stockman.engine.local_lock import LocalLock, LockProcess, process_start_time
from stockman.engine.lock import LockHolder
from stockman.model.errors import Locked, Refused
from tests.engine.simulated import JumpClock

HERE = LockProcess(host="workbench", pid=4711, started="100")
ANNA = LockHolder(name="anna@workbench", run="run-1", nonce="a")
BERT = LockHolder(name="bert@workbench", run="run-2", nonce="b")


def lock(file: Path, machine: LockProcess = HERE) -> LocalLock:
    return LocalLock(file, JumpClock(), machine)


def test_a_second_process_is_told_who_has_it(tmp_path: Path) -> None:
    async def story() -> None:
        await lock(tmp_path / "lock").acquire(ANNA)
        await lock(tmp_path / "lock").acquire(BERT)

    with pytest.raises(Locked, match=r"lock\.held") as caught:
        asyncio.run(story())
    assert "anna@workbench, run run-1" in caught.value.problem.why


def test_tokens_grow(tmp_path: Path) -> None:
    async def story() -> list[int]:
        tokens = []
        for _ in range(3):
            tenure = await lock(tmp_path / "lock").acquire(ANNA)
            tokens.append(tenure.token)
            await tenure.release()
        return tokens

    assert asyncio.run(story()) == [1, 2, 3]


_HOLDS = """
import fcntl, os, sys
handle = os.open(sys.argv[1], os.O_RDWR)
fcntl.flock(handle, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


def test_the_lock_of_a_process_that_was_killed_is_free(tmp_path: Path) -> None:
    file = tmp_path / "lock"
    file.touch()
    with subprocess.Popen(
        [sys.executable, "-c", _HOLDS, file], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        with pytest.raises(Locked):
            asyncio.run(lock(file).acquire(ANNA))
        process.kill()
        process.wait()

    assert asyncio.run(lock(file).acquire(ANNA)).token == 1


def test_a_lock_that_another_machine_did_not_give_back_refuses(tmp_path: Path) -> None:
    async def story() -> None:
        elsewhere = LockProcess(host="notebook", pid=1, started="1")
        tenure = await lock(tmp_path / "lock", elsewhere).acquire(ANNA)
        os.close(tenure._handle or 0)
        await lock(tmp_path / "lock").acquire(BERT)

    with pytest.raises(Refused, match=r"lock\.elsewhere"):
        asyncio.run(story())


def test_a_file_that_was_deleted_is_no_lock(tmp_path: Path) -> None:
    async def story() -> None:
        tenure = await lock(tmp_path / "lock").acquire(ANNA)
        await tenure.check()
        (tmp_path / "lock").unlink()
        await lock(tmp_path / "lock").acquire(BERT)
        await tenure.check()

    with pytest.raises(Refused, match=r"lock\.lost"):
        asyncio.run(story())


def test_a_lock_that_was_given_back_is_no_longer_ours(tmp_path: Path) -> None:
    async def story() -> None:
        tenure = await lock(tmp_path / "lock").acquire(ANNA)
        await tenure.release()
        await tenure.check()

    with pytest.raises(Refused, match=r"lock\.lost"):
        asyncio.run(story())


def test_a_file_that_nobody_can_read_refuses(tmp_path: Path) -> None:
    (tmp_path / "lock").write_text(json.dumps({"token": "many"}))

    with pytest.raises(Refused, match=r"lock\.unreadable"):
        asyncio.run(lock(tmp_path / "lock").acquire(ANNA))


def test_who_has_it_is_told_without_taking_it(tmp_path: Path) -> None:
    file = tmp_path / "lock"
    alive = LockProcess(host="workbench", pid=os.getpid(), started=process_start_time(os.getpid()))

    async def story() -> list[str]:
        rows = [await lock(file).held_by()]
        tenure = await lock(file, alive).acquire(ANNA)
        rows.append(await lock(file).held_by())
        await tenure.check()
        await tenure.release()
        return [*rows, await lock(file).held_by()]

    assert asyncio.run(story()) == ["", "anna@workbench, run run-1", ""]


def test_nobody_has_what_a_dead_process_left(tmp_path: Path) -> None:
    file = tmp_path / "lock"
    gone = LockProcess(host="workbench", pid=os.getpid(), started="1")

    async def story() -> str:
        await lock(file, gone).acquire(ANNA)
        return await lock(file).held_by()

    assert asyncio.run(story()) == ""


def test_a_full_disk_refuses_and_leaves_the_lock_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "pwrite", full)
        with pytest.raises(Refused) as caught:
            asyncio.run(lock(tmp_path / "lock").acquire(ANNA))

    assert caught.value.problem.code == "lock.unreadable"
    assert "No space left" in caught.value.problem.why
    asyncio.run(lock(tmp_path / "lock").acquire(ANNA))
