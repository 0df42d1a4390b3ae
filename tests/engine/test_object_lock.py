"""The lock in object storage: never two holders, whatever the network does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stockman.engine.lock import LockHolder
from stockman.engine.object_lock import HeldObjectLock, LockAction, LockTimeouts, ObjectLock
from stockman.model.errors import Denied, Locked, Refused, StockmanError, Unreachable
from stockman.ports.objects import ObjectMetadata
from tests.engine.simulated import Dice, JumpClock, LoopClock, virtually
from tests.engine.storage import SlowStored, Storage, Stored, times

TIMES = LockTimeouts(seconds=60.0, spare=10.0)


def holder(name: str) -> LockHolder:
    return LockHolder(name=name, run=f"run-{name}", nonce=f"nonce-{name}")


@dataclass
class Span:
    """Somebody relies on the lock, from when and until when in true time."""

    start: float
    until: float
    name: str
    token: int


@dataclass
class Watch:
    """Who relied on the lock."""

    spans: list[Span] = field(default_factory=list)

    def ends(self, name: str, now: float) -> None:
        """Somebody relies on it no more."""
        for span in self.spans:
            if span.name == name:
                span.until = min(span.until, now)


class Contender:
    """Somebody who wants the lock again and again, and holds it a while, often too long."""

    def __init__(self, name: str, storage: Storage, watch: Watch, seed: int) -> None:
        self._dice = Dice(f"{seed}/{name}")
        self._clock = LoopClock(skew=(self._dice.share() - 0.5) * TIMES.spare)
        objects = SlowStored(storage, self._dice, LoopClock(), loss=0.25)
        self._lock = ObjectLock(objects, self._clock, "s3://flock", TIMES)
        self._name = name
        self._watch = watch

    async def compete(self, rounds: int) -> None:
        for number in range(rounds):
            name = f"{self._name}{number}"
            try:
                tenure = await self._lock.acquire(holder(name))
            except (Locked, Refused):
                await self._clock.sleep(self._dice.share() * 90)
                continue
            for _ in range(4):
                if not await self._sure(tenure, name):
                    break
                await self._clock.sleep(self._dice.share() * 50)
            if self._dice.share() < 0.5:
                self._watch.ends(name, asyncio.get_running_loop().time())
                await _quietly(tenure.release())

    async def _sure(self, tenure: HeldObjectLock, name: str) -> bool:
        """Whether the lock is ours; says for how long we would rely on it."""
        try:
            await tenure.check()
        except Unreachable:
            return True
        except StockmanError:
            return False
        now = asyncio.get_running_loop().time()
        lasts = (tenure.expires - self._clock.now()).total_seconds()
        self._watch.spans.append(Span(now, now + lasts, name, tenure.token))
        return True


async def _quietly(work: Awaitable[None]) -> None:
    try:
        await work
    except StockmanError:
        return


def raced(seed: int, contenders: int = 3, rounds: int = 12) -> Watch:
    storage, watch = Storage(), Watch()

    async def story() -> None:
        async with asyncio.TaskGroup() as group:
            for number in range(contenders):
                contender = Contender("abc"[number], storage, watch, seed)
                group.create_task(contender.compete(rounds))

    virtually(story())
    return watch


@settings(max_examples=150)
@given(st.integers(0, 2**32))
def test_nobody_relies_on_the_lock_while_another_does(seed: int) -> None:
    spans = sorted(raced(seed).spans, key=lambda span: span.start)

    for number, later in enumerate(spans):
        for earlier in spans[:number]:
            assert later.name == earlier.name or later.start >= earlier.until
            assert later.name == earlier.name or later.token > earlier.token


def test_in_such_races_the_lock_changes_hands() -> None:
    holders = {(seed, span.name) for seed in range(5) for span in raced(seed).spans}

    assert len(holders) > 15


def lock(storage: Storage, clock: JumpClock | LoopClock) -> ObjectLock:
    return ObjectLock(Stored(storage), clock, "s3://flock", TIMES)


def test_a_lock_that_somebody_holds_is_locked() -> None:
    storage, clock = Storage(), JumpClock()

    async def story() -> None:
        await lock(storage, clock).acquire(holder("anna"))
        await lock(storage, clock).acquire(holder("bert"))

    with pytest.raises(Locked, match=r"lock\.held") as caught:
        asyncio.run(story())
    assert "anna" in caught.value.problem.why


def test_a_lock_that_was_given_back_is_taken_with_a_larger_token() -> None:
    storage, clock = Storage(), JumpClock()

    async def story() -> tuple[int, int]:
        one = await lock(storage, clock).acquire(holder("anna"))
        await one.release()
        other = await lock(storage, clock).acquire(holder("bert"))
        return one.token, other.token

    one, other = asyncio.run(story())
    assert other > one


def test_whoever_gives_no_sign_of_life_loses_it() -> None:
    storage, clock = Storage(), JumpClock()

    async def story() -> None:
        one = await lock(storage, clock).acquire(holder("anna"))
        clock.jump(71)
        await lock(storage, clock).acquire(holder("bert"))
        await one.check()

    with pytest.raises(Refused, match=r"lock\.lost"):
        asyncio.run(story())


def test_a_lock_is_not_taken_while_clocks_may_differ() -> None:
    storage, clock = Storage(), JumpClock()

    async def story() -> None:
        await lock(storage, clock).acquire(holder("anna"))
        clock.jump(69)
        await lock(storage, clock).acquire(holder("bert"))

    with pytest.raises(Locked):
        asyncio.run(story())


@pytest.mark.parametrize("ahead", [45, 90, 3600])
def test_a_clock_that_is_ahead_does_not_take_a_lock_that_is_renewed(ahead: float) -> None:
    storage = Storage()

    async def story() -> str:
        tenure = await lock(storage, LoopClock()).acquire(holder("anna"))

        async def work() -> None:
            while True:
                await LoopClock().sleep(15)
                await tenure.check()

        working = asyncio.ensure_future(work())
        with pytest.raises(Locked) as caught:
            await lock(storage, LoopClock(skew=ahead)).acquire(holder("bert"))
        working.cancel()
        await tenure.check()
        return caught.value.problem.why

    assert "anna" in virtually(story())


def test_a_clock_that_jumps_does_not_prolong_the_lock_of_its_holder() -> None:
    storage, wall, true = Storage(), JumpClock(), JumpClock()

    async def story() -> bool:
        own = ObjectLock(
            Stored(storage), wall, "s3://flock", TIMES, elapsed=lambda: true.now().timestamp()
        )
        tenure = await own.acquire(holder("anna"))
        wall.jump(-3600)
        true.jump(40)
        await tenure.check()
        return len(await own.numbers()) == 2

    assert asyncio.run(story())


def test_whoever_was_away_and_lost_nothing_goes_on() -> None:
    storage, clock = Storage(), JumpClock()

    async def story() -> int:
        one = await lock(storage, clock).acquire(holder("anna"))
        clock.jump(500)
        await one.check()
        return one.token

    assert asyncio.run(story()) == 1


def test_old_records_are_deleted_and_the_last_stays() -> None:
    storage, clock = Storage(), JumpClock()

    async def story() -> None:
        one = await lock(storage, clock).acquire(holder("anna"))
        for _ in range(40):
            clock.jump(31)
            await one.check()

    asyncio.run(story())

    assert max(storage.content) == "lock/000041.json"
    assert len(storage.content) <= 9


def test_whoever_takes_a_number_that_was_deleted_holds_nothing() -> None:
    storage, clock = Storage(), JumpClock()

    async def story() -> None:
        one = await lock(storage, clock).acquire(holder("anna"))
        for _ in range(40):
            clock.jump(31)
            await one.check()
        slow = lock(storage, clock)
        await slow.write(3, LockAction.TAKEN, holder("bert"), 3)
        await one.check()
        await lock(storage, clock).acquire(holder("carl"))

    with pytest.raises(Locked) as caught:
        asyncio.run(story())
    assert "anna" in caught.value.problem.why


class LongAgo(Stored):
    """Shows once what was there long ago."""

    def __init__(self, storage: Storage, old: Storage) -> None:
        super().__init__(storage)
        self._old: Storage | None = old

    async def list_objects(self, folder: str = "") -> tuple[ObjectMetadata, ...]:
        old, self._old = self._old, None
        return await (
            super().list_objects(folder) if old is None else Stored(old).list_objects(folder)
        )

    async def read(self, key: str) -> AsyncIterator[bytes]:
        yield RELEASED if key == "lock/000002.json" else self.storage.content[key]


RELEASED = (
    b'{"act": "released", "holder": "anna", "run": "r", "nonce": "n", "token": 1,'
    b' "expires": "2026-03-01T06:00:00+00:00"}'
)


def test_whoever_looked_long_ago_and_takes_a_deleted_number_is_told() -> None:
    storage, old, clock = Storage(), Storage(), JumpClock()
    old.content["lock/000002.json"] = RELEASED

    async def story() -> None:
        one = await lock(storage, clock).acquire(holder("anna"))
        for _ in range(40):
            clock.jump(31)
            await one.check()
        late = ObjectLock(LongAgo(storage, old), clock, "s3://flock", TIMES)
        await late.acquire(holder("bert"))

    with pytest.raises(Locked) as caught:
        asyncio.run(story())
    assert "anna" in caught.value.problem.why
    assert "lock/000003.json" in storage.content


@pytest.mark.parametrize("kind", [Denied, Unreachable])
def test_a_home_that_cannot_be_read_refuses(kind: type[StockmanError]) -> None:
    objects = Stored(Storage())
    objects.troubles.append(times(kind, "listed", 99))

    with pytest.raises((Refused, Denied)):
        asyncio.run(ObjectLock(objects, JumpClock(), "s3://flock").acquire(holder("anna")))


def test_a_record_that_nobody_can_read_refuses() -> None:
    storage = Storage()
    storage.content["lock/000001.json"] = b"{}"

    with pytest.raises(Refused, match=r"lock\.unreadable"):
        asyncio.run(lock(storage, JumpClock()).acquire(holder("anna")))


def test_who_has_it_is_told_without_taking_it() -> None:
    storage, clock = Storage(), JumpClock()

    async def story() -> list[str]:
        rows = [await lock(storage, clock).held_by()]
        tenure = await lock(storage, clock).acquire(holder("anna"))
        rows.append(await lock(storage, clock).held_by())
        await tenure.check()
        await tenure.release()
        return [*rows, await lock(storage, clock).held_by()]

    before, while_held, after = asyncio.run(story())

    assert (before, after) == ("", "")
    assert while_held.startswith("anna, run ")
