"""The lock in object storage: numbered records, each created once and never replaced.

The last record is the state of the lock: taken, renewed or released. A process that has read record
n as the last one creates record n+1; of several processes only one succeeds, so renewing and taking
over compete for the same number. Because old records are deleted, a process that has created a
record checks once more that it is the last one.

A lock that was not released is taken over only after its last record did not change for as long as
it lasts, measured here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from enum import Enum

from stockman.engine import problems
from stockman.engine.lock import LockHolder
from stockman.engine.runs import create_object_once, read_object, read_with_retries
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
"""Number of records to keep before the last one."""
_TRIES = 3
_LOOKS = 6
"""How often a process looks whether an expired lock is renewed, until it takes it over."""


class LockAction(Enum):
    """What the holder did."""

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
    """Number of the record with which the holder took the lock."""
    expires: datetime
    """When others may take it."""
    schema: str = OBJECT_LOCK_SCHEMA


@record
class LockTimeouts:
    """Timeouts of the lock."""

    seconds: float = 60.0
    """Seconds from the last renewal until the lock expires."""
    spare: float = 10.0
    """Additional seconds that others wait, because clocks differ."""


class ObjectLock:
    """A `LockStore` in a bucket."""

    def __init__(
        self,
        objects: ObjectStore,
        clock: Timekeeper,
        location: str,
        timeouts: LockTimeouts | None = None,
        elapsed: Callable[[], float] | None = None,
    ) -> None:
        """`elapsed` returns seconds that never jump. None: by the clock."""
        self._objects = objects
        self._clock = clock
        self._location = location
        self._timeouts = timeouts or LockTimeouts()
        self.elapsed = elapsed or (lambda: clock.now().timestamp())

    async def acquire(self, holder: LockHolder) -> HeldObjectLock:
        try:
            number, last = await self._last_record()
            if last is not None and not self._is_free(last):
                until = f"until {last.expires:%Y-%m-%d %H:%M:%S %Z} unless renewed"
                raise Locked(problems.lock_held_by(self._location, last.holder, until))
            if last is not None and last.act is not LockAction.RELEASED:
                await self._observe_silence(number, last)
            held = HeldObjectLock(self, holder, number + 1)
            await held.take()
        except (Unreachable, Uncertain, NotFound) as error:
            raise Refused(problems.lock_unreadable(self._location, error.problem.why)) from error
        return held

    async def _observe_silence(self, number: int, last: LockRecord) -> None:
        """Raise `Locked` if the holder renews an expired lock while it could still rely on it.

        Clocks of two machines differ by any amount, so an expired record proves nothing: only the
        time that passes here without a new record counts.
        """
        silent_until = self.elapsed() + self._timeouts.seconds + self._timeouts.spare
        while (left := silent_until - self.elapsed()) > 0:
            await self._clock.sleep(min(left, self._timeouts.seconds / _LOOKS))
            if (await self.numbers())[-1:] != [number]:
                why = "and renewed it after its end by the clock of this machine, which is ahead"
                raise Locked(problems.lock_held_by(self._location, last.holder, why))

    async def held_by(self) -> str:
        try:
            _, last = await self._last_record()
        except (Unreachable, Uncertain, NotFound) as error:
            raise Refused(problems.lock_unreadable(self._location, error.problem.why)) from error
        if last is None or self._is_free(last):
            return ""
        return f"{last.holder}, run {last.run}"

    def _is_free(self, last: LockRecord) -> bool:
        expiry = last.expires + timedelta(seconds=self._timeouts.spare)
        return last.act is LockAction.RELEASED or self._clock.now() >= expiry

    async def _last_record(self) -> tuple[int, LockRecord | None]:
        numbers = await self.numbers()
        if not numbers:
            return 0, None
        return numbers[-1], await self.read(numbers[-1])

    async def numbers(self) -> list[int]:
        """Return the numbers of all existing records, sorted."""
        listing = await read_with_retries(self._clock, lambda: self._objects.list_objects(_FOLDER))
        matches = [_KEY.fullmatch(entry.key) for entry in listing]
        return sorted(int(match[1]) for match in matches if match is not None)

    async def read(self, number: int) -> LockRecord:
        """Return a record; raises `NotFound`, or `Refused` if it is invalid."""
        content = await read_with_retries(
            self._clock, lambda: read_object(self._objects, _key(number))
        )
        try:
            lock_record = from_json(LockRecord, json.loads(content), "record")
        except (ValueError, InvalidValue) as error:
            why = f"record {number} is invalid: {error}"
            raise Refused(problems.lock_unreadable(self._location, why)) from None
        if lock_record.schema != OBJECT_LOCK_SCHEMA:
            why = f"record {number} has the unknown schema {lock_record.schema!r}"
            raise Refused(problems.lock_unreadable(self._location, why))
        return lock_record

    async def write(
        self, number: int, act: LockAction, holder: LockHolder, token: int
    ) -> LockRecord:
        """Create a record; raises `Conflict` if another process has created that number."""
        seconds = 0.0 if act is LockAction.RELEASED else self._timeouts.seconds
        lock_record = LockRecord(
            act=act,
            holder=holder.name,
            run=holder.run,
            nonce=holder.nonce,
            token=token,
            expires=self._clock.now() + timedelta(seconds=seconds),
        )
        content = json.dumps(to_json(lock_record), sort_keys=True).encode()
        await create_object_once(self._objects, self._clock, _key(number), content)
        return lock_record

    async def delete_old_records(self, numbers: Sequence[int]) -> None:
        """Delete all records except the last few."""
        for old in self.replaced_records(numbers):
            await self._objects.delete(_key(old))

    def replaced_records(self, numbers: Sequence[int]) -> tuple[int, ...]:
        """Return the records that are older than the last few."""
        return tuple(old for old in numbers if old <= numbers[-1] - _KEPT)

    def lost_error(self, why: str) -> Refused:
        return Refused(problems.lock_lost(self._location, why))

    def slow_renewal_error(self) -> Unreachable:
        why = "renewing the lock takes longer than it lasts"
        return Unreachable(problems.lock_unreadable(self._location, why))

    def is_expired(self, renewed: float) -> bool:
        """Return whether the lock has expired for its holder."""
        return self.elapsed() >= renewed + self._timeouts.seconds

    def needs_renewal(self, renewed: float) -> bool:
        """Return whether half of the time has passed since the last renewal."""
        return self.elapsed() >= renewed + self._timeouts.seconds / 2


class HeldObjectLock:
    """The lock, held by this process since one of its records."""

    def __init__(self, lock: ObjectLock, holder: LockHolder, token: int) -> None:
        self._lock = lock
        self._holder = holder
        self._token = token
        self._number = token - 1
        self._record: LockRecord | None = None
        """The last record written by this process. None: it does not hold the lock."""
        self._renewed = 0.0
        """When this process began to write the last record that it knows to be written."""

    @property
    def token(self) -> int:
        return self._token

    @property
    def expires(self) -> datetime:
        """When the lock expires without another renewal."""
        return self._own_record().expires

    async def take(self) -> None:
        """Create the record that takes the lock; raises `Locked` if another process was first."""
        attempted = self._lock.elapsed()
        try:
            lock_record = await self._lock.write(
                self._token, LockAction.TAKEN, self._holder, self._token
            )
        except Conflict:
            raise Locked((await self._locked_error(self._token)).problem) from None
        numbers = await self._lock.numbers()
        if numbers[-1] != self._token:
            raise Locked((await self._locked_error(numbers[-1])).problem)
        self._number, self._record, self._renewed = self._token, lock_record, attempted
        await self._delete_old_records(numbers)

    async def check(self) -> None:
        for _ in range(_TRIES):
            self._own_record()
            renewed = self._renewed
            if self._lock.needs_renewal(renewed):
                await self.renew()
            elif await self._is_last() and not self._lock.is_expired(renewed):
                return
        raise self._lock.slow_renewal_error()

    async def _is_last(self) -> bool:
        try:
            await self._lock.read(self._number + 1)
        except NotFound:
            return True
        await self._adopt_last_record()
        return False

    async def renew(self) -> None:
        self._own_record()
        number = self._number + 1
        attempted = self._lock.elapsed()
        try:
            lock_record = await self._lock.write(
                number, LockAction.RENEWED, self._holder, self._token
            )
        except Conflict:
            await self._adopt_last_record()
            return
        numbers = await self._lock.numbers()
        if numbers[-1] != number:
            await self._adopt_last_record()
            return
        self._number, self._record, self._renewed = number, lock_record, attempted
        await self._delete_old_records(numbers)

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
            await self._adopt_last_record()
        except Refused:
            return False
        return True

    def _own_record(self) -> LockRecord:
        if self._record is None:
            raise self._lock.lost_error("it was released, or taken by another process")
        return self._record

    async def _adopt_last_record(self) -> None:
        """Continue after the last record if this process wrote it; otherwise raise `Refused`."""
        number = (await self._lock.numbers())[-1]
        last = await self._lock.read(number)
        if last.nonce == self._holder.nonce and last.act is not LockAction.RELEASED:
            self._number, self._record = number, last
            return
        self._record = None
        raise self._lock.lost_error(
            f"{last.holder} took it with token {last.token}, this run has {self._token}"
        )

    async def _locked_error(self, number: int) -> StockmanError:
        winner = await self._lock.read(number)
        return Locked(problems.lock_held_by("lock", winner.holder, f"with token {winner.token}"))

    async def _delete_old_records(self, numbers: Sequence[int]) -> None:
        try:
            await self._lock.delete_old_records(numbers)
        except StockmanError:
            return  # the next record tries again


def _key(number: int) -> str:
    return f"{_FOLDER}/{number:06d}.json"
