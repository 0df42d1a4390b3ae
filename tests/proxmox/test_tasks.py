"""How often one looks at a task."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest

from stockman.proxmox.calls.tasks import PollPolicy, TaskCalls
from stockman.proxmox.tasks import TaskRef
from stockman.proxmox.transport import Reply, Request


@pytest.mark.parametrize(
    ("ran", "tasks", "wait"),
    [(0.0, 1, 0.2), (1.0, 1, 0.2), (0.0, 20, 0.4), (10.0, 4, 0.5), (120.0, 1, 1.0)],
)
def test_the_longer_a_task_runs_the_less_often_it_is_looked_at(
    ran: float, tasks: int, wait: float
) -> None:
    assert PollPolicy().wait(ran, tasks) == pytest.approx(wait)


def test_a_task_of_ten_seconds_is_looked_at_about_thirty_times() -> None:
    patience, ran, looks = PollPolicy(), 0.0, 0

    while ran < 10.0:
        ran += patience.wait(ran)
        looks += 1

    assert looks < 40


@pytest.mark.parametrize("tasks", [2, 4, 32, 500])
def test_a_host_is_asked_fifty_times_a_second_at_most(tasks: int) -> None:
    assert tasks / PollPolicy().wait(0.0, tasks) <= 50.0


class Slept:
    """A clock that does not wait, and knows how long one wanted to."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=sum(self.seconds) / 1e6)

    async def sleep(self, seconds: float) -> None:
        self.seconds.append(round(seconds, 3))
        await asyncio.sleep(0)  # noqa: TID251  # lets others run, and takes no time


class Running:
    """A wire to hosts whose tasks end at the third look."""

    def __init__(self) -> None:
        self._looks: Counter[str] = Counter()

    async def call(self, request: Request) -> Reply:
        await asyncio.sleep(0)  # noqa: TID251  # lets others run, and takes no time
        self._looks[request.path] += 1
        is_over = self._looks[request.path] > 2
        return Reply(data={"status": "stopped", "exitstatus": "OK"} if is_over else _RUNNING)


_RUNNING = {"status": "running"}


@pytest.mark.parametrize(
    ("hosts", "wait"),
    [(" ".join(["neo"] * 20), 0.4), ("neo niobe smith link", 0.2)],
    ids=["one host", "four hosts"],
)
def test_tasks_of_one_host_are_looked_at_in_turn(hosts: str, wait: float) -> None:
    clock = Slept()
    calls = TaskCalls(Running(), clock)
    tasks = [
        TaskRef.parse(f"UPID:{host}:{number:08X}:00000001:6AFAEE10:qmstart:{number}:root@pam:")
        for number, host in enumerate(hosts.split())
    ]

    async def all_of_them() -> None:
        await asyncio.gather(*(calls.wait_task(task) for task in tasks))

    asyncio.run(all_of_them())

    assert clock.seconds == [wait] * (2 * len(tasks))
