"""Concurrent callers of a read share one request."""

from __future__ import annotations

import asyncio

import pytest

from stockman.proxmox.calls.base import SharedCall


class PendingCall:
    """A call that returns its number once it may answer."""

    def __init__(self) -> None:
        self.count = 0
        self.may_answer = asyncio.Event()

    async def __call__(self) -> int:
        self.count += 1
        number = self.count
        await self.may_answer.wait()
        return number


async def _let_other_tasks_run() -> None:
    ready = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_soon(ready.set_result, None)
    await ready


async def _run_twice_at_once() -> list[int]:
    call, shared = PendingCall(), SharedCall[int]()
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(shared.run(call)) for _ in range(2)]
        await _let_other_tasks_run()
        call.may_answer.set()
    return [task.result() for task in tasks]


def test_a_second_caller_gets_the_reply_of_the_running_call() -> None:
    assert asyncio.run(_run_twice_at_once()) == [1, 1]


async def _run_twice_in_turn() -> list[int]:
    call, shared = PendingCall(), SharedCall[int]()
    call.may_answer.set()
    return [await shared.run(call), await shared.run(call)]


def test_a_reply_is_not_cached() -> None:
    assert asyncio.run(_run_twice_in_turn()) == [1, 2]


async def _cancel_the_first_caller() -> int:
    call, shared = PendingCall(), SharedCall[int]()
    async with asyncio.TaskGroup() as group:
        first = group.create_task(shared.run(call))
        second = group.create_task(shared.run(call))
        await _let_other_tasks_run()
        first.cancel()
        call.may_answer.set()
    return second.result()


def test_a_cancelled_caller_does_not_cancel_the_call_of_the_others() -> None:
    assert asyncio.run(_cancel_the_first_caller()) == 1


async def _fail() -> int:
    raise OSError("connection refused")


async def _fail_for_all_callers() -> None:
    shared = SharedCall[int]()

    results = await asyncio.gather(shared.run(_fail), shared.run(_fail), return_exceptions=True)

    assert [str(result) for result in results] == ["connection refused"] * 2
    with pytest.raises(OSError, match="refused"):
        await shared.run(_fail)


def test_all_callers_get_the_error_of_a_failed_call() -> None:
    asyncio.run(_fail_for_all_callers())
