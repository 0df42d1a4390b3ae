"""The journal of one run: appended to, read, and never changed.

What is written is in its store for good before `append` returns. Entries of steps that run side
by side are written together where that saves a round.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Protocol

from stockman.engine import problems
from stockman.engine.entry import (
    LONGEST,
    SCHEMA,
    START,
    Broken,
    Entry,
    Event,
    TooLong,
    entry_of,
    line_of,
)
from stockman.engine.shared_clock import turn
from stockman.model.errors import Refused, StockmanError
from stockman.ports.clock import Clock

Watcher = Callable[[Entry], None]
"""Told of every entry once it is written."""


class JournalLost(Refused):
    """The journal cannot be written: nothing may happen any more."""


class Lines(Protocol):
    """Where the lines of one journal are kept."""

    @property
    def place(self) -> str:
        """Its name, for people."""
        ...

    async def read(self) -> bytes:
        """All that was written and nothing that is torn: whole lines, each with its new line."""
        ...

    async def append(self, first: int, lines: bytes) -> None:
        """Add lines, the first of which has this number; they are there for good afterwards.

        `Refused` where somebody else added some, or they cannot be written.
        """
        ...


class Journal:
    """Appends entries to lines, one after the other."""

    def __init__(self, lines: Lines, clock: Clock, entries: tuple[Entry, ...], last: str) -> None:
        self._lines = lines
        self._clock = clock
        self._entries = list(entries)
        self._last = last
        self._waiting: list[tuple[bytes, Entry]] = []
        self._batch: list[tuple[bytes, Entry]] = []
        """What is being written; written again as it is if that was interrupted."""
        self._turn = asyncio.Lock()
        self._number = len(entries)
        self._written = len(entries)
        self.watchers: list[Watcher] = []

    @property
    def place(self) -> str:
        return self._lines.place

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Everything that is written, in order."""
        return tuple(self._entries)

    async def append(
        self, event: Event, step: str = "", data: Mapping[str, object] | None = None
    ) -> Entry:
        """Write an entry; it is there for good when this returns."""
        entry = self.add(event, step, data)
        async with self._turn:
            while self._written < entry.number:
                await self._write()
        return entry

    def add(self, event: Event, step: str = "", data: Mapping[str, object] | None = None) -> Entry:
        """Write an entry together with the next that is appended: nothing depends on it before."""
        entry = Entry(
            number=self._number + 1,
            at=self._clock.now(),
            event=event,
            step=step,
            data=dict(data or {}),
        )
        try:
            line, self._last = line_of(entry, self._last)
        except TooLong as no:
            raise Refused(problems.journal_too_long(no.args[0], LONGEST)) from None
        self._number += 1
        self._waiting.append((line, entry))
        return entry

    async def _write(self) -> None:
        if not self._batch:
            # Whoever has something to write right now writes together with us.
            await turn()
            self._batch, self._waiting = self._waiting, []
        first = self._batch[0][1].number
        try:
            await self._lines.append(first, b"".join(line for line, _ in self._batch))
        except StockmanError as no:
            raise JournalLost(no.problem) from no
        written, self._batch = self._batch, []
        self._written = written[-1][1].number
        for _, entry in written:
            self._entries.append(entry)
            for watcher in self.watchers:
                watcher(entry)


async def opened(lines: Lines, clock: Clock) -> Journal:
    """A journal that goes on where its lines end; `Refused` where they are damaged."""
    entries, last = parsed(await lines.read(), lines.place)
    return Journal(lines, clock, entries, last)


def parsed(content: bytes, place: str) -> tuple[tuple[Entry, ...], str]:
    """The entries of a journal, and the checksum of the last."""
    entries: list[Entry] = []
    last = START
    for number, line in enumerate(content.splitlines(keepends=True), 1):
        try:
            entry, last = entry_of(line, last)
        except Broken as no:
            raise Refused(problems.journal_damaged(place, number, str(no))) from None
        if entry.number != number:
            why = f"it calls itself number {entry.number}"
            raise Refused(problems.journal_damaged(place, number, why))
        entries.append(entry)
    if entries and entries[0].text("schema") != SCHEMA:
        raise Refused(problems.journal_schema(place, entries[0].text("schema"), SCHEMA))
    return tuple(entries), last
