"""Runs in object storage: segments of the journal that are created and never replaced."""

from __future__ import annotations

import asyncio
import re

from stockman.engine import problems
from stockman.engine.objects import create_object_once, read_object, read_with_retries
from stockman.model.errors import Conflict, NotFound, Refused
from stockman.ports.objects import ObjectStore
from stockman.ports.system import Timekeeper

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
