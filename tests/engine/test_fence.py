"""The fence of a run: the lock, and the Lease where there is an API."""

from __future__ import annotations

import asyncio
from datetime import datetime

import pytest

from stockman.engine.fence import Fence
from stockman.engine.lease import ClusterLease
from stockman.engine.lock import Holder
from stockman.engine.object_lock import ObjectLock
from stockman.model.errors import Locked, Refused, StockmanError, Unreachable
from stockman.ports.kubernetes.leases import Lease, LeaseWish
from tests.engine.simulated import JumpClock, LoopClock, virtually
from tests.engine.storage import Storage, Stored, trouble

ANNA = Holder(name="anna", run="run-1", nonce="a")


async def runs() -> tuple[str, ...]:
    """What the home of the lock knows."""
    return ("run-0", "run-1")


class Api:
    """Leases of a cluster that may not be there yet."""

    def __init__(self, clock: JumpClock) -> None:
        self._clock = clock
        self.holder = ""
        self.trouble: type[StockmanError] | None = None
        self.taken = 0

    async def lease(self, namespace: str, name: str) -> Lease:
        return self._lease(self._clock.now())

    async def acquire_lease(self, wish: LeaseWish) -> Lease:
        if self.trouble is not None:
            raise trouble(self.trouble, wish.name)
        if self.holder not in ("", wish.holder):
            raise trouble(Locked, wish.name)
        self.holder = wish.holder
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


def test_the_lease_is_taken_as_soon_as_the_api_answers() -> None:
    clock = JumpClock()
    api = Api(clock)
    api.trouble = Unreachable

    async def story() -> list[str]:
        fence = await fenced(clock, api)
        await fence.check()
        before = api.holder
        api.trouble = None
        await fence.check()
        return [before, api.holder]

    assert asyncio.run(story()) == ["", "run-1-a"]


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
        async with fence.kept():
            await fence.check()
        await ObjectLock(Stored(storage), clock, "s3://flock").acquire(ANNA)

    asyncio.run(story())

    assert api.holder == ""


def test_signs_of_life_are_given_while_a_step_takes_its_time() -> None:
    storage = Storage()

    async def story() -> int:
        clock = LoopClock()
        tenure = await ObjectLock(Stored(storage), clock, "s3://flock").acquire(ANNA)
        async with Fence(tenure).kept(every=15.0):
            await clock.sleep(600)
            return len(storage.content)

    virtually(story())

    assert max(storage.content) >= "lock/000040.json"
