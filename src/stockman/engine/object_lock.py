"""The lock in object storage: numbered records, each created once and never replaced.

Record n+1 says what happened after record n: somebody took the lock, said that they are still
there, or gave it back. Whoever writes one has seen that n was the last, and of several who try
only one succeeds: renewing and taking over compete for the same number. Only the last record
counts. Old ones are deleted far behind it, so whoever has created a record looks once more whether
it is the last.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import Enum

from stockman.engine import problems
from stockman.engine.lock import LockHolder
from stockman.engine.objects import create_object_once, read_object, read_with_retries
from stockman.model.errors import (
    Conflict,
    Locked,
    NotFound,
    Refused,
    StockmanError,
    Uncertain,
    Unreachable,
)
from stockman.model.record import record
from stockman.ports.objects import ObjectStore
from stockman.ports.system import Timekeeper
from stockman.steps.serialization import InvalidValue, from_json, to_json

OBJECT_LOCK_SCHEMA = "stockman.lock/1"
_FOLDER = "lock"
_KEY = re.compile(r"lock/(\d{6,})\.json")
_KEPT = 8
"""Records that stay behind the last."""
_TRIES = 3


class LockAction(Enum):
    """What a record tells."""

    TAKEN = "taken"
    RENEWED = "renewed"
    RELEASED = "released"


@record
class LockRecord:
    """One record of the lock."""

    act: LockAction
    holder: str
    run: str
    nonce: str
    token: int
    """The number of the record with which the holder took the lock."""
    expires: datetime
    """From when on others may take it."""
    schema: str = OBJECT_LOCK_SCHEMA


@record
class LockTimeouts:
    """How long a lock holds without a sign of life."""

    seconds: float = 60.0
    spare: float = 10.0
    """Seconds that others wait on top of it: clocks may differ so much."""


class ObjectLock:
    """`LockHome` in a bucket."""

    def __init__(
        self, objects: ObjectStore, clock: Timekeeper, place: str, times: LockTimeouts | None = None
    ) -> None:
        self._objects = objects
        self._clock = clock
        self._place = place
        self._times = times or LockTimeouts()

    async def acquire(self, holder: LockHolder) -> HeldObjectLock:
        try:
            number, last = await self._last()
            if last is not None and not self._is_free(last):
                until = f"until {last.expires:%Y-%m-%d %H:%M:%S %Z} unless renewed"
                raise Locked(problems.lock_held_by(self._place, last.holder, until))
            tenure = HeldObjectLock(self, holder, number + 1)
            await tenure.take()
        except (Unreachable, Uncertain, NotFound) as no:
            raise Refused(problems.lock_unreadable(self._place, no.problem.why)) from no
        return tenure

    async def held_by(self) -> str:
        try:
            _, last = await self._last()
        except (Unreachable, Uncertain, NotFound) as no:
            raise Refused(problems.lock_unreadable(self._place, no.problem.why)) from no
        if last is None or self._is_free(last):
            return ""
        return f"{last.holder}, run {last.run}"

    def _is_free(self, last: LockRecord) -> bool:
        over = last.expires + timedelta(seconds=self._times.spare)
        return last.act is LockAction.RELEASED or self._clock.now() >= over

    async def _last(self) -> tuple[int, LockRecord | None]:
        numbers = await self.numbers()
        if not numbers:
            return 0, None
        return numbers[-1], await self.read(numbers[-1])

    async def numbers(self) -> list[int]:
        """Numbers of all records that are there, sorted."""
        found = await read_with_retries(self._clock, lambda: self._objects.list_objects(_FOLDER))
        keys = [_KEY.fullmatch(one.key) for one in found]
        return sorted(int(match[1]) for match in keys if match is not None)

    async def read(self, number: int) -> LockRecord:
        """A record; `NotFound` where there is none, `Refused` where it is not one of ours."""
        content = await read_with_retries(
            self._clock, lambda: read_object(self._objects, _key(number))
        )
        try:
            found = from_json(LockRecord, json.loads(content), "record")
        except (ValueError, InvalidValue) as no:
            why = f"record {number} cannot be read: {no}"
            raise Refused(problems.lock_unreadable(self._place, why)) from None
        if found.schema != OBJECT_LOCK_SCHEMA:
            why = f"record {number} is of schema {found.schema!r}"
            raise Refused(problems.lock_unreadable(self._place, why))
        return found

    async def write(
        self, number: int, act: LockAction, holder: LockHolder, token: int
    ) -> LockRecord:
        """Create a record; `Conflict` where somebody else has that number."""
        length = 0.0 if act is LockAction.RELEASED else self._times.seconds
        made = LockRecord(
            act=act,
            holder=holder.name,
            run=holder.run,
            nonce=holder.nonce,
            token=token,
            expires=self._clock.now() + timedelta(seconds=length),
        )
        content = json.dumps(to_json(made), sort_keys=True).encode()
        await create_object_once(self._objects, self._clock, _key(number), content)
        return made

    async def forget(self, numbers: Sequence[int]) -> None:
        """Delete records that are far behind the last of those that are there."""
        for old in numbers:
            if old <= numbers[-1] - _KEPT:
                await self._objects.delete(_key(old))

    def lost(self, why: str) -> Refused:
        return Refused(problems.lock_lost(self._place, why))

    def too_slow(self) -> Unreachable:
        why = "signs of life take longer than the lock lasts"
        return Unreachable(problems.lock_unreadable(self._place, why))

    def is_over(self, record: LockRecord) -> bool:
        """Whether the holder itself may no longer count on its lock."""
        return self._clock.now() >= record.expires

    def is_worn(self, record: LockRecord) -> bool:
        """Whether it is time to renew."""
        return self._clock.now() >= record.expires - timedelta(seconds=self._times.seconds / 2)


class HeldObjectLock:
    """The lock, held by us from one record on."""

    def __init__(self, lock: ObjectLock, holder: LockHolder, token: int) -> None:
        self._lock = lock
        self._holder = holder
        self._token = token
        self._number = token - 1
        self._record: LockRecord | None = None
        """The last that we wrote. None: the lock is not ours."""

    @property
    def token(self) -> int:
        return self._token

    @property
    def expires(self) -> datetime:
        """Until when the lock is ours without another sign of life."""
        return self._ours().expires

    async def take(self) -> None:
        """Write the record that makes the lock ours; `Locked` where somebody else was faster."""
        try:
            made = await self._lock.write(self._token, LockAction.TAKEN, self._holder, self._token)
        except Conflict:
            raise Locked((await self._winner(self._token)).problem) from None
        numbers = await self._lock.numbers()
        if numbers[-1] != self._token:
            raise Locked((await self._winner(numbers[-1])).problem)
        self._number, self._record = self._token, made
        await self._tidy(numbers)

    async def check(self) -> None:
        for _ in range(_TRIES):
            made = self._ours()
            if self._lock.is_worn(made):
                await self.renew()
            elif await self._is_last() and not self._lock.is_over(made):
                return
        raise self._lock.too_slow()

    async def _is_last(self) -> bool:
        try:
            await self._lock.read(self._number + 1)
        except NotFound:
            return True
        await self._find_out()
        return False

    async def renew(self) -> None:
        self._ours()
        number = self._number + 1
        try:
            made = await self._lock.write(number, LockAction.RENEWED, self._holder, self._token)
        except Conflict:
            await self._find_out()
            return
        numbers = await self._lock.numbers()
        if numbers[-1] != number:
            await self._find_out()
            return
        self._number, self._record = number, made
        await self._tidy(numbers)

    async def release(self) -> None:
        while self._record is not None:
            try:
                await self._lock.write(
                    self._number + 1, LockAction.RELEASED, self._holder, self._token
                )
            except Conflict:
                if not await self._is_still_ours():
                    return
            else:
                self._record = None

    async def _is_still_ours(self) -> bool:
        try:
            await self._find_out()
        except Refused:
            return False
        return True

    def _ours(self) -> LockRecord:
        if self._record is None:
            raise self._lock.lost("it was given back or taken by somebody else")
        return self._record

    async def _find_out(self) -> None:
        """Go on after our own last record, or say who has the lock now."""
        number = (await self._lock.numbers())[-1]
        last = await self._lock.read(number)
        if last.nonce == self._holder.nonce and last.act is not LockAction.RELEASED:
            self._number, self._record = number, last
            return
        self._record = None
        raise self._lock.lost(
            f"{last.holder} took it with token {last.token}, ours is {self._token}"
        )

    async def _winner(self, number: int) -> StockmanError:
        winner = await self._lock.read(number)
        return Locked(problems.lock_held_by("lock", winner.holder, f"with token {winner.token}"))

    async def _tidy(self, numbers: Sequence[int]) -> None:
        try:
            await self._lock.forget(numbers)
        except StockmanError:
            return  # the next record tries again


def _key(number: int) -> str:
    return f"{_FOLDER}/{number:06d}.json"
