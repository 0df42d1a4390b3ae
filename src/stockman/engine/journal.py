"""Entries of a journal, each a line of JSON whose checksum covers all lines before it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import field
from datetime import datetime
from enum import Enum
from hashlib import sha256
from typing import Protocol

from stockman.engine import problems
from stockman.engine.shared_clock import yield_turn
from stockman.model.errors import Refused, StockmanError
from stockman.model.record import record
from stockman.ports.system import Clock
from stockman.steps.base import Json
from stockman.steps.digest import canonical_json_text
from stockman.steps.serialization import InvalidValue, from_json, to_json

JOURNAL_SCHEMA = "stockman.journal/1"
"""In the first entry of every journal."""
MAX_LINE_BYTES = 64 * 1024
"""Bytes of a line; more than that is refused before it is written."""
FIRST_CHECKSUM = "0" * 64
"""What the first line follows."""


class EntryType(Enum):
    """What an entry tells."""

    ACCEPTED = "accepted"
    """A plan is going to be carried out: `schema`, `run`, `cluster`, `plan` (digest), `by`."""
    GATE = "gate"
    """A gate was asked: `gate`, `answer`, `because`."""
    STARTED = "started"
    """A step is about to have an effect: `attempt`."""
    UNKNOWN = "unknown"
    """Nobody knows whether the step had its effect: `problem`. It is looked at next."""
    RETRIED = "retried"
    """An attempt ended in what may pass, and another one follows: `problem`, `wait` in seconds."""
    FINISHED = "finished"
    """A step is true: `already` where there was nothing to do."""
    FAILED = "failed"
    """A step stopped: `problem`."""
    HELD = "held"
    """Something is about to be taken: `key`, `hold`, `prior`."""
    RELEASED = "released"
    """It was given back: `key`."""
    PAUSED = "paused"
    """The run stopped because somebody asked for it: `now` if at once."""
    ENDED = "ended"
    """The run is over: `result`."""
    NOTE = "note"
    """Something worth reading: `text`."""


@record
class JournalEntry:
    """One thing that happened in a run."""

    number: int
    """From 1, without gaps."""
    at: datetime
    event: EntryType
    step: str = ""
    """Empty: about the whole run."""
    data: Mapping[str, object] = field(default_factory=dict)
    """What else is to be told; JSON, and never a secret."""

    def text(self, name: str) -> str:
        """A text of the data; empty where there is none."""
        value = self.data.get(name, "")
        return value if isinstance(value, str) else ""


class EntryTooLong(Exception):
    """An entry that is longer than a line may be."""


def encode_entry(entry: JournalEntry, before: str) -> tuple[bytes, str]:
    """An entry as a line that follows the one with this checksum, and its own checksum.

    `TypeError` where the data holds a secret or anything else that is not JSON.
    """
    body = to_json(entry)
    checksum = _checksum(body, before)
    line = json.dumps([body, checksum], separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
    if len(line) > MAX_LINE_BYTES:
        raise EntryTooLong(len(line))
    return line, checksum


class BrokenLine(Exception):
    """A line that is not what was written."""


def decode_entry(line: bytes, before: str) -> tuple[JournalEntry, str]:
    """The entry of a line, and its checksum; `Broken` where it does not follow the one before."""
    try:
        body, checksum = json.loads(line)
        entry = from_json(JournalEntry, body, "entry")
    except (ValueError, TypeError, InvalidValue) as error:
        raise BrokenLine(f"it cannot be read ({type(error).__name__})") from None
    if checksum != _checksum(body, before):
        raise BrokenLine("its checksum is not that of its content and of all lines before it")
    return entry, checksum


def _checksum(body: object, before: str) -> str:
    return sha256(f"{before}{canonical_json_text(body)}".encode()).hexdigest()


def hold_prior(entry: JournalEntry) -> Json:
    """What a `held` entry says was there before."""
    return entry.data.get("prior")  # type: ignore[return-value]  # it was read from JSON


def entry_json(entry: JournalEntry) -> str:
    """An entry of the journal as one line of JSON."""
    return json.dumps(to_json(entry), separators=(",", ":"), ensure_ascii=False)


def entry_text(entry: JournalEntry) -> str:
    """An entry of the journal as a line for people."""
    subject = entry.step or "run"
    detail = entry.text("because") or entry.text("text") or entry.text("result")
    problem = entry.data.get("problem")
    if isinstance(problem, dict):
        detail = f"{problem.get('code', '')}: {problem.get('what', '')}"
    line = f"{entry.at:%H:%M:%S} {subject}: {entry.event.value}"
    return f"{line} ({detail})" if detail else line


Watcher = Callable[[JournalEntry], None]
"""Told of every entry once it is written."""


class JournalLost(Refused):
    """The journal cannot be written: nothing may happen any more."""


class JournalLines(Protocol):
    """Where the lines of one journal are kept."""

    @property
    def location(self) -> str:
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

    def __init__(
        self, lines: JournalLines, clock: Clock, entries: tuple[JournalEntry, ...], last: str
    ) -> None:
        self._lines = lines
        self._clock = clock
        self._entries = list(entries)
        self._last = last
        self._waiting: list[tuple[bytes, JournalEntry]] = []
        self._batch: list[tuple[bytes, JournalEntry]] = []
        """What is being written; written again as it is if that was interrupted."""
        self._turn = asyncio.Lock()
        self._number = len(entries)
        self._written = len(entries)
        self.watchers: list[Watcher] = []

    @property
    def location(self) -> str:
        return self._lines.location

    @property
    def entries(self) -> tuple[JournalEntry, ...]:
        """Everything that is written, in order."""
        return tuple(self._entries)

    async def append(
        self, event: EntryType, step: str = "", data: Mapping[str, object] | None = None
    ) -> JournalEntry:
        """Write an entry; it is there for good when this returns."""
        entry = self.add(event, step, data)
        async with self._turn:
            while self._written < entry.number:
                await self._write()
        return entry

    def add(
        self, event: EntryType, step: str = "", data: Mapping[str, object] | None = None
    ) -> JournalEntry:
        """Write an entry together with the next that is appended: nothing depends on it before."""
        entry = JournalEntry(
            number=self._number + 1,
            at=self._clock.now(),
            event=event,
            step=step,
            data=dict(data or {}),
        )
        try:
            line, self._last = encode_entry(entry, self._last)
        except EntryTooLong as error:
            raise Refused(problems.journal_too_long(error.args[0], MAX_LINE_BYTES)) from None
        self._number += 1
        self._waiting.append((line, entry))
        return entry

    async def _write(self) -> None:
        if not self._batch:
            # Whoever has something to write right now writes together with us.
            await yield_turn()
            self._batch, self._waiting = self._waiting, []
        first = self._batch[0][1].number
        try:
            await self._lines.append(first, b"".join(line for line, _ in self._batch))
        except StockmanError as error:
            raise JournalLost(error.problem) from error
        written, self._batch = self._batch, []
        self._written = written[-1][1].number
        for _, entry in written:
            self._entries.append(entry)
            for watcher in self.watchers:
                watcher(entry)


async def open_journal(lines: JournalLines, clock: Clock) -> Journal:
    """A journal that goes on where its lines end; `Refused` where they are damaged."""
    entries, last = parse_journal(await lines.read(), lines.location)
    return Journal(lines, clock, entries, last)


def parse_journal(content: bytes, location: str) -> tuple[tuple[JournalEntry, ...], str]:
    """The entries of a journal, and the checksum of the last."""
    entries: list[JournalEntry] = []
    last = FIRST_CHECKSUM
    for number, line in enumerate(content.splitlines(keepends=True), 1):
        try:
            entry, last = decode_entry(line, last)
        except BrokenLine as error:
            raise Refused(problems.journal_corrupt(location, number, str(error))) from None
        if entry.number != number:
            why = f"it calls itself number {entry.number}"
            raise Refused(problems.journal_corrupt(location, number, why))
        entries.append(entry)
    if entries and entries[0].text("schema") != JOURNAL_SCHEMA:
        raise Refused(problems.journal_schema(location, entries[0].text("schema"), JOURNAL_SCHEMA))
    return tuple(entries), last
