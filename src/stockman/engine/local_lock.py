"""The lock in a file of this machine, for one operator.

It is a file lock of the kernel, so it is free as soon as its process ends. The file contains the
holder and a token that grows with every holder.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
from dataclasses import replace
from pathlib import Path

from stockman.engine import problems
from stockman.engine.lock import LockHolder
from stockman.model.errors import Locked, Refused
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.ports.system import Clock
from stockman.steps.serialization import InvalidValue, from_json, to_json

LOCAL_LOCK_SCHEMA = "stockman.local-lock/1"
_OWNER_ONLY = 0o600
_BUSY = (errno.EAGAIN, errno.EACCES)


@record
class LockProcess:
    """A process of a machine."""

    host: str
    pid: int
    started: str
    """Start time in clock ticks; process ids are reused. Empty: unknown."""


def process_start_time(pid: int) -> str:
    """Return the start time of a process in clock ticks. Empty: unknown."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


@record
class LocalLockRecord:
    """The content of the lock file."""

    token: int
    holder: str
    run: str
    nonce: str
    machine: LockProcess
    since: str
    released: bool = False
    schema: str = LOCAL_LOCK_SCHEMA


class LocalLock:
    """A `LockStore` in a file, `.stockman/lock` of a repository."""

    def __init__(self, file: Path, clock: Clock, machine: LockProcess) -> None:
        self._file = file
        self._clock = clock
        self._machine = machine

    async def acquire(self, holder: LockHolder) -> HeldLocalLock:
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(self._file, os.O_RDWR | os.O_CREAT, _OWNER_ONLY)
        except OSError as error:
            raise Refused(self._unreadable_problem(error)) from None
        try:
            previous = self._lock_file(handle)
        except BaseException:
            os.close(handle)
            raise
        lock_record = LocalLockRecord(
            token=previous.token + 1 if previous else 1,
            holder=holder.name,
            run=holder.run,
            nonce=holder.nonce,
            machine=self._machine,
            since=self._clock.now().isoformat(),
        )
        held = HeldLocalLock(self._file, handle, lock_record)
        try:
            held.write(lock_record)
        except OSError as error:
            os.close(handle)
            raise Refused(self._unreadable_problem(error)) from None
        return held

    async def held_by(self) -> str:
        if not self._file.exists():
            return ""
        current = self._read_record()
        if current is None or current.released or self._is_dead(current.machine):
            return ""
        return f"{current.holder}, run {current.run}"

    def _is_dead(self, machine: LockProcess) -> bool:
        """Return whether a process of this machine has certainly ended."""
        if machine.host != self._machine.host:
            return False
        try:
            os.kill(machine.pid, 0)
        except ProcessLookupError:
            return True
        except PermissionError:
            return False
        now = process_start_time(machine.pid)
        return bool(now and machine.started) and now != machine.started

    def _lock_file(self, handle: int) -> LocalLockRecord | None:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in _BUSY:
                raise Locked(self._held_problem()) from None
            raise Refused(self._unreadable_problem(error)) from None
        current = self._read_record()
        if (
            current is not None
            and not current.released
            and current.machine.host != self._machine.host
        ):
            holder = f"{current.holder} on {current.machine.host}"
            raise Refused(problems.lock_on_other_machine(str(self._file), holder))
        return current

    def _read_record(self) -> LocalLockRecord | None:
        """Return the content of the file. None: it is empty."""
        try:
            content = self._file.read_bytes()
        except OSError as error:
            raise Refused(self._unreadable_problem(error)) from None
        if not content:
            return None
        try:
            return from_json(LocalLockRecord, json.loads(content), "record")
        except (ValueError, InvalidValue) as error:
            raise Refused(problems.lock_unreadable(str(self._file), str(error))) from None

    def _held_problem(self) -> Problem:
        try:
            current = self._read_record()
        except Refused:
            current = None
        holder = "another process" if current is None else f"{current.holder}, run {current.run},"
        since = "" if current is None else f"since {current.since}"
        return problems.lock_held_by(str(self._file), holder, since)

    def _unreadable_problem(self, error: OSError) -> Problem:
        why = error.strerror or type(error).__name__
        return problems.lock_unreadable(str(self._file), why)


class HeldLocalLock:
    """The held lock of an open file."""

    def __init__(self, file: Path, handle: int, lock_record: LocalLockRecord) -> None:
        self._file = file
        self._handle: int | None = handle
        self._record = lock_record

    @property
    def token(self) -> int:
        return self._record.token

    async def check(self) -> None:
        if self._handle is None:
            raise Refused(problems.lock_lost(str(self._file), "it was released"))
        try:
            current = self._file.stat()
        except OSError:
            raise Refused(problems.lock_lost(str(self._file), "the file was deleted")) from None
        own = os.fstat(self._handle)
        if (current.st_dev, current.st_ino) != (own.st_dev, own.st_ino):
            raise Refused(problems.lock_lost(str(self._file), "the file was replaced"))

    async def renew(self) -> None:
        await self.check()

    async def release(self) -> None:
        if self._handle is None:
            return
        self.write(replace(self._record, released=True))
        os.close(self._handle)
        self._handle = None

    def write(self, lock_record: LocalLockRecord) -> None:
        """Write the record to the file."""
        if self._handle is None:
            return
        content = json.dumps(to_json(lock_record), indent=2).encode() + b"\n"
        os.ftruncate(self._handle, 0)
        os.pwrite(self._handle, content, 0)
        os.fsync(self._handle)
