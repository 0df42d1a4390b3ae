"""Stores of runs: the plan and the journal of each run, in a directory or in a bucket."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Protocol, TypeVar

from stockman.engine import problems
from stockman.engine.journal import JournalLines
from stockman.model.errors import Conflict, NotFound, Refused, Uncertain, Unreachable
from stockman.ports.objects import ObjectStore
from stockman.ports.system import Entropy, Timekeeper


class RunStore(Protocol):
    """All runs of one cluster."""

    @property
    def location(self) -> str:
        """Directory or object folder, for messages."""
        ...

    async def create(self, run: str, plan: str) -> JournalLines:
        """Create a run, and store its plan durably."""
        ...

    async def list_runs(self) -> tuple[str, ...]:
        """List all runs, oldest first."""
        ...

    async def lines(self, run: str) -> JournalLines:
        """Return the journal of a run; raises `NotFound`."""
        ...

    async def plan(self, run: str) -> str:
        """Return the text of the plan of a run; raises `NotFound`."""
        ...


_MOMENT = "%Y%m%dt%H%M%Sz"
_SECOND = timedelta(seconds=1)


def new_run_name(now: datetime, entropy: Entropy, after: str = "") -> str:
    """Return a unique name for a run that sorts by time, and after the run `after`.

    If `after` has the same or a later time, the new name contains the second after it.
    """
    before = _moment(after)
    if before is not None:
        now = max(now, before + _SECOND)
    return f"{now:{_MOMENT}}-{entropy.random_bytes(3).hex()}"


def newest_run(runs: Sequence[str]) -> str:
    """Return the last of sorted runs with a valid name; empty if there is none."""
    return next((run for run in reversed(runs) if _moment(run) is not None), "")


def _moment(run: str) -> datetime | None:
    try:
        return datetime.strptime(run.partition("-")[0], _MOMENT).replace(tzinfo=UTC)
    except ValueError:
        return None


T = TypeVar("T")
_ATTEMPTS = 5
_LOOKS = 3
_FIRST_WAIT = 0.5


async def create_object_once(
    objects: ObjectStore, clock: Timekeeper, key: str, content: bytes
) -> None:
    """Create an object; raises `Conflict` if it exists with different content.

    The content must be unique to this process: an existing object with the same content counts as
    created by this call.
    """
    for attempt in range(_ATTEMPTS):
        try:
            await objects.create(key, content)
        except Conflict:
            existing = await find_object(objects, key)
            if existing == content:
                return
            # A server may report a conflict while another process is still creating the object.
            if existing is not None or attempt == _ATTEMPTS - 1:
                raise
        except (Uncertain, Unreachable):
            if attempt == _ATTEMPTS - 1:
                raise
        else:
            return
        await clock.sleep(_FIRST_WAIT * 2**attempt)
        if await find_object(objects, key) == content:
            return


async def read_with_retries(clock: Timekeeper, read: Callable[[], Awaitable[T]]) -> T:
    """Return the result of `read`, repeated a few times while it raises `Unreachable`."""
    for attempt in range(_LOOKS - 1):
        try:
            return await read()
        except Unreachable:
            await clock.sleep(_FIRST_WAIT * 2**attempt)
    return await read()


async def read_object(objects: ObjectStore, key: str) -> bytes:
    """Return the content of a small object; raises `NotFound`."""
    return b"".join([piece async for piece in objects.read(key)])


async def find_object(objects: ObjectStore, key: str) -> bytes | None:
    """Return the content of a small object; None if it does not exist or cannot be read."""
    try:
        return await read_object(objects, key)
    except (NotFound, Unreachable):
        return None


PLAN = "plan.json"
JOURNAL = "journal.jsonl"
_OWNER_ONLY = 0o600
_OWNER_ENTERS = 0o700


class LocalJournalLines:
    """A journal in a file. Text after the last newline was left by a crash, and is dropped."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._size: int | None = None
        """Size of the file in bytes. None: not read yet."""

    @property
    def location(self) -> str:
        return str(self._file)

    async def read(self) -> bytes:
        return _complete_lines(self._content())

    async def append(self, first: int, lines: bytes) -> None:
        try:
            self._write(first, lines)
        except OSError as error:
            raise Refused(
                problems.journal_unwritable(self.location, _os_error_text(error))
            ) from None

    def _write(self, first: int, lines: bytes) -> None:
        is_new = not self._file.exists()
        handle = os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, _OWNER_ONLY)
        try:
            if self._size is None:
                self._size = self._check_size(first)
                os.ftruncate(handle, self._size)
            if os.fstat(handle).st_size != self._size:
                raise Refused(problems.journal_written_elsewhere(self.location))
            self._size += len(lines)
            remaining = lines
            while remaining:
                remaining = remaining[os.write(handle, remaining) :]
            os.fsync(handle)
        finally:
            os.close(handle)
        if is_new:
            _sync(self._file.parent)

    def _check_size(self, first: int) -> int:
        complete = _complete_lines(self._content())
        if complete.count(b"\n") != first - 1:
            raise Refused(problems.journal_written_elsewhere(self.location))
        return len(complete)

    def _content(self) -> bytes:
        try:
            return self._file.read_bytes()
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise Refused(
                problems.journal_unwritable(self.location, _os_error_text(error))
            ) from None


class LocalRunStore:
    """A `RunStore` in a directory, `.stockman/runs` of a repository."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    @property
    def location(self) -> str:
        return str(self._directory)

    async def create(self, run: str, plan: str) -> LocalJournalLines:
        folder = self._directory / run
        try:
            folder.mkdir(mode=_OWNER_ENTERS, parents=True)
            # A process may be killed here; a run exists once it has a complete plan.
            unfinished = folder / f"{PLAN}.new"
            handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OWNER_ONLY)
            with os.fdopen(handle, "wb") as file:
                file.write(plan.encode())
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(folder / PLAN)
            for directory in (folder, self._directory, self._directory.parent):
                _sync(directory)
        except OSError as error:
            raise Refused(problems.journal_unwritable(str(folder), _os_error_text(error))) from None
        return LocalJournalLines(folder / JOURNAL)

    async def list_runs(self) -> tuple[str, ...]:
        try:
            return tuple(sorted(file.parent.name for file in self._directory.glob(f"*/{PLAN}")))
        except OSError as error:
            raise Refused(
                problems.journal_unwritable(self.location, _os_error_text(error))
            ) from None

    async def lines(self, run: str) -> LocalJournalLines:
        return LocalJournalLines((await self._folder(run)) / JOURNAL)

    async def plan(self, run: str) -> str:
        file = (await self._folder(run)) / PLAN
        try:
            return file.read_text("utf-8")
        except OSError as error:
            raise Refused(problems.journal_unwritable(str(file), _os_error_text(error))) from None

    async def _folder(self, run: str) -> Path:
        known = await self.list_runs()
        if run not in known:
            raise NotFound(problems.no_such_run(run, known))
        return self._directory / run


def _complete_lines(content: bytes) -> bytes:
    return content[: content.rfind(b"\n") + 1]


def _sync(directory: Path) -> None:
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _os_error_text(error: OSError) -> str:
    return error.strerror or type(error).__name__


_FOLDER = "runs"
_SEGMENT = re.compile(r"journal/\d{8}\.jsonl")
_PARALLEL_READS = 16
"""Number of segments to read in parallel."""


class ObjectJournalLines:
    """A journal in segments, each named after the number of its first line.

    Of several processes that write the same number only one succeeds.
    """

    def __init__(self, objects: ObjectStore, clock: Timekeeper, folder: str) -> None:
        self._objects = objects
        self._clock = clock
        self._folder = folder

    @property
    def location(self) -> str:
        return self._folder

    async def read(self) -> bytes:
        folder = f"{self._folder}/journal"
        listing = await read_with_retries(self._clock, lambda: self._objects.list_objects(folder))
        keys = [entry.key for entry in listing if _SEGMENT.fullmatch(self._name(entry.key))]
        journal = bytearray()
        expected = 1
        for at in range(0, len(keys), _PARALLEL_READS):
            batch = keys[at : at + _PARALLEL_READS]
            contents = await asyncio.gather(*(self._segment(key) for key in batch))
            for key, content in zip(batch, contents, strict=True):
                if self._name(key) != f"journal/{expected:08d}.jsonl":
                    why = f"the next segment is {self._name(key)}"
                    raise Refused(problems.journal_corrupt(self.location, expected, why))
                journal += content
                expected += content.count(b"\n")
        return bytes(journal)

    async def _segment(self, key: str) -> bytes:
        return await read_with_retries(self._clock, lambda: read_object(self._objects, key))

    def _name(self, key: str) -> str:
        return key.removeprefix(f"{self._folder}/")

    async def append(self, first: int, lines: bytes) -> None:
        key = f"{self._folder}/journal/{first:08d}.jsonl"
        try:
            await create_object_once(self._objects, self._clock, key, lines)
        except Conflict:
            raise Refused(problems.journal_written_elsewhere(self.location)) from None


class ObjectRunStore:
    """A `RunStore` in a bucket."""

    def __init__(self, objects: ObjectStore, clock: Timekeeper) -> None:
        self._objects = objects
        self._clock = clock

    @property
    def location(self) -> str:
        return _FOLDER

    async def create(self, run: str, plan: str) -> ObjectJournalLines:
        await create_object_once(
            self._objects, self._clock, f"{_FOLDER}/{run}/plan.json", plan.encode()
        )
        return self._lines(run)

    async def list_runs(self) -> tuple[str, ...]:
        listing = await read_with_retries(self._clock, lambda: self._objects.list_objects(_FOLDER))
        keys = [entry.key for entry in listing]
        plans = [key for key in keys if key.endswith("/plan.json")]
        return tuple(sorted(key.split("/")[1] for key in plans))

    async def lines(self, run: str) -> ObjectJournalLines:
        await self.plan(run)
        return self._lines(run)

    async def plan(self, run: str) -> str:
        try:
            key = f"{_FOLDER}/{run}/plan.json"
            content = await read_with_retries(self._clock, lambda: read_object(self._objects, key))
        except NotFound:
            raise NotFound(problems.no_such_run(run, await self.list_runs())) from None
        return content.decode()

    def _lines(self, run: str) -> ObjectJournalLines:
        return ObjectJournalLines(self._objects, self._clock, f"{_FOLDER}/{run}")
