"""The fence of a run: the lock, and the Lease where there is an API."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime
from typing import ClassVar, cast

import pytest

from stockman.engine.journal import EntryType, JournalEntry, Watcher
from stockman.engine.lifecycle import start_run
from stockman.engine.lock import ClusterLease, Fence, LockHolder
from stockman.engine.object_lock import ObjectLock
from stockman.kubernetes.calls.leases import LeaseCalls
from stockman.kubernetes.client import KubernetesClient
from stockman.kubernetes.leases import Lease, LeaseRequest
from stockman.model.errors import Locked, Refused, StockmanError, Unreachable
from stockman.model.record import record
from stockman.steps.base import Json
from stockman.steps.ports import Ports
from tests.engine.simulated import JumpClock, LoopClock, virtually
from tests.engine.storage import Killed, Storage, Stored, trouble
from tests.engine.toys import Flag, Scene, make, plan_of, way

ANNA = LockHolder(name="anna", run="run-1", nonce="a")


async def runs() -> tuple[str, ...]:
    """What the home of the lock knows."""
    return ("run-0", "run-1")


class Api(LeaseCalls):
    """Leases of a cluster that may not be there yet."""

    def __init__(self, clock: JumpClock) -> None:
        self._clock = clock
        self.holder = ""
        self.trouble: type[StockmanError] | None = None
        self.taken = self.calls = 0

    async def lease(self, namespace: str, name: str) -> Lease:
        return self._lease(self._clock.now())

    async def acquire_lease(self, request: LeaseRequest) -> Lease:
        self.calls += 1
        if self.trouble is not None:
            raise trouble(self.trouble, request.name)
        if self.holder not in ("", request.holder):
            raise trouble(Locked, request.name)
        self.holder = request.holder
        self.taken += 1
        return self._lease(self._clock.now())

    async def renew_lease(self, lease: Lease) -> Lease:
        return self._lease(self._clock.now())

    async def release_lease(self, lease: Lease) -> Lease:
        self.holder = ""
        return self._lease(None)

    def _lease(self, renewed: datetime | None) -> Lease:
        return Lease(
            namespace="kube-system",
            name="stockman",
            holder=self.holder,
            seconds=60,
            renewed=renewed,
            acquired=renewed,
            transitions=0,
            version="1",
        )


async def fenced(clock: JumpClock, api: Api) -> Fence:
    tenure = await ObjectLock(Stored(Storage()), clock, "s3://flock").acquire(ANNA)
    return Fence(tenure, ClusterLease(api, clock, ANNA, runs))


def test_a_lease_of_a_killed_run_of_the_same_home_is_taken_over_at_once() -> None:
    clock = JumpClock()
    api = Api(clock)

    async def runs() -> tuple[str, ...]:
        return ("run-0", "run-1")

    async def story(left_by: str) -> str:
        api.holder = left_by
        await ClusterLease(api, clock, ANNA, runs).check()
        return api.holder

    assert asyncio.run(story("run-1-killed")) == "run-1-a"
    assert asyncio.run(story("run-0-killed")) == "run-1-a"
    with pytest.raises(Refused, match=r"lock\.lost"):
        asyncio.run(story("run-2-of-somebody-else"))
    assert api.holder == "run-2-of-somebody-else"


def test_a_lease_that_was_ours_and_is_not_is_lost_whoever_has_it() -> None:
    clock = JumpClock()
    api = Api(clock)

    async def runs() -> tuple[str, ...]:
        return ("run-1",)

    async def story() -> None:
        lease = ClusterLease(api, clock, ANNA, runs)
        await lease.check()
        api.holder = "run-1-b"
        clock.jump(60)
        await lease.check()

    with pytest.raises(Refused, match=r"lock\.lost"):
        asyncio.run(story())
    assert api.holder == "run-1-b"


def test_an_api_that_does_not_answer_is_called_again_after_half_a_minute() -> None:
    clock = JumpClock()
    api = Api(clock)
    api.trouble = Unreachable

    async def story() -> list[object]:
        fence = await fenced(clock, api)
        for _ in range(30):
            await fence.check()
        calls, before = api.calls, api.holder
        api.trouble = None
        await fence.check()
        early = api.holder
        clock.jump(30)
        await fence.check()
        return [calls, before, early, api.holder]

    assert asyncio.run(story()) == [1, "", "", "run-1-a"]


def test_a_lease_is_renewed_and_not_at_every_step() -> None:
    clock = JumpClock()
    api = Api(clock)

    async def story() -> None:
        fence = await fenced(clock, api)
        for _ in range(10):
            await fence.check()
        clock.jump(31)
        await fence.check()

    asyncio.run(story())

    assert api.taken == 2


def test_a_lease_of_somebody_else_stops_the_run_for_good() -> None:
    clock = JumpClock()
    api = Api(clock)
    api.holder = "bert"

    async def story() -> None:
        fence = await fenced(clock, api)
        with pytest.raises(Refused):
            await fence.check()
        api.holder = ""
        await fence.check()

    with pytest.raises(Refused, match=r"lock\.lost"):
        asyncio.run(story())


@pytest.mark.parametrize("dead", ["run-0-f00d", "run-1-beef"])
def test_a_lease_is_taken_over_from_a_run_whose_lock_is_ours_now(dead: str) -> None:
    clock = JumpClock()
    api = Api(clock)
    api.holder = dead

    async def story() -> None:
        fence = await fenced(clock, api)
        await fence.check()

    asyncio.run(story())

    assert api.holder == "run-1-a"


def test_a_lease_that_was_ours_is_not_taken_back() -> None:
    clock = JumpClock()
    api = Api(clock)

    async def story() -> None:
        fence = await fenced(clock, api)
        await fence.check()
        api.holder = "run-0-f00d"
        clock.jump(31)
        await fence.check()

    with pytest.raises(Refused, match=r"lock\.lost"):
        asyncio.run(story())


def test_everything_is_given_back_after_the_run() -> None:
    clock, storage = JumpClock(), Storage()
    api = Api(clock)

    async def story() -> None:
        tenure = await ObjectLock(Stored(storage), clock, "s3://flock").acquire(ANNA)
        fence = Fence(tenure, ClusterLease(api, clock, ANNA, runs))
        async with fence.keep_alive():
            await fence.check()
        await ObjectLock(Stored(storage), clock, "s3://flock").acquire(ANNA)

    asyncio.run(story())

    assert api.holder == ""


def test_signs_of_life_are_given_while_a_step_takes_its_time() -> None:
    storage = Storage()

    async def story() -> int:
        clock = LoopClock()
        tenure = await ObjectLock(Stored(storage), clock, "s3://flock").acquire(ANNA)
        async with Fence(tenure).keep_alive(interval=15.0):
            await clock.sleep(600)
            return len(storage.content)

    virtually(story())

    assert max(storage.content) >= "lock/000040.json"


HOLDERS: list[str] = []
"""Who had the Lease when something was given back."""


@record
class Told(Flag):
    """A flag that tells who gave it back."""

    kind: ClassVar[str] = "test.told"

    async def give_back(self, ports: Ports, prior: Json) -> None:
        HOLDERS.append((await ports.to_kubernetes().lease("kube-system", "stockman")).holder)
        await super().give_back(ports, prior)


def dies(entry: JournalEntry) -> None:
    """End the process as soon as a step has begun."""
    if entry.event is EntryType.STARTED:
        raise Killed


def test_whoever_ends_an_older_run_has_the_lease_in_its_name() -> None:
    scene = Scene()
    api = Api(scene.clock)
    plan = plan_of(make("a", holds=(Told(name="red"),)))

    async def story(watchers: tuple[Watcher, ...] = ()) -> tuple[str, ...]:
        home, ports = scene.process()
        with_api = replace(ports, kubernetes=cast("KubernetesClient", api))
        await start_run(home, plan, with_api, way(watchers=watchers))
        return await home.runs.list_runs()

    with pytest.raises((Killed, BaseExceptionGroup)):
        virtually(story((dies,)))
    HOLDERS.clear()
    older, newer = virtually(story())

    # Whoever goes on after a kill takes a Lease over from runs that are written down.
    assert [holder.rpartition("-")[0] for holder in HOLDERS] == [older, newer]
    assert api.holder == ""
