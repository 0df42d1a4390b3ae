"""The journal of a run: lines of JSON, each with a checksum that covers all lines before it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import field
from datetime import datetime
from enum import Enum
from hashlib import sha256
from typing import TYPE_CHECKING, Protocol

from stockman.engine import problems
from stockman.engine.shared_clock import yield_turn
from stockman.model.errors import Refused, StockmanError
from stockman.model.record import record
from stockman.ports.system import Clock
from stockman.steps.base import Json
from stockman.steps.digest import canonical_json_text
from stockman.steps.serialization import InvalidValue, from_json, to_json

if TYPE_CHECKING:
    from stockman.engine.signing import JournalKeys

JOURNAL_SCHEMA = "stockman.journal/1"
"""Schema in the first entry of every journal."""
MAX_LINE_BYTES = 64 * 1024
"""Maximum size of a line in bytes."""
FIRST_CHECKSUM = "0" * 64
"""Checksum before the first line."""


class EntryType(Enum):
    """The type of an entry, and the names of its data."""

    ACCEPTED = "accepted"
    """A plan will be executed: `schema`, `run`, `cluster`, `plan` (digest), `by`."""
    GATE = "gate"
    """A gate was checked: `gate`, `answer`, `because`."""
    STARTED = "started"
    """A step is about to have an effect: `attempt`."""
    UNKNOWN = "unknown"
    """It is unknown whether the step had its effect: `problem`. It is checked next."""
    RETRIED = "retried"
    """An attempt failed and will be repeated: `problem`, `wait` in seconds."""
    FINISHED = "finished"
    """A step is done: `already` if there was nothing to do."""
    FAILED = "failed"
    """A step failed: `problem`."""
    HELD = "held"
    """A hold is about to be taken: `key`, `hold`, `prior`."""
    RELEASED = "released"
    """A hold was released: `key`."""
    PAUSED = "paused"
    """The run was stopped by the user: `now` if immediately."""
    ENDED = "ended"
    """The run has ended: `result`."""
    NOTE = "note"
    """A note for the user: `text`."""


@record
class JournalEntry:
    """An event of a run."""

    number: int
    """From 1, without gaps."""
    at: datetime
    event: EntryType
    step: str = ""
    """Empty: the entry is about the whole run."""
    data: Mapping[str, object] = field(default_factory=dict)
    """Details as JSON, without secrets."""

    def text(self, name: str) -> str:
        """Return a text in the data; empty if there is none."""
        value = self.data.get(name, "")
        return value if isinstance(value, str) else ""


class EntryTooLong(Exception):
    """An entry exceeds `MAX_LINE_BYTES`."""


def encode_entry(
    entry: JournalEntry, before: str, keys: JournalKeys | None = None
) -> tuple[bytes, str]:
    """Encode an entry as the line after the one with checksum `before`; also returns its checksum.

    With `keys` the line is signed.

    Raises `TypeError` if the data contains a secret or another value that is not JSON.
    """
    body = to_json(entry)
    checksum = _checksum(body, before)
    row = [body, checksum] if keys is None else [body, checksum, keys.sign(checksum)]
    line = json.dumps(row, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
    if len(line) > MAX_LINE_BYTES:
        raise EntryTooLong(len(line))
    return line, checksum


class BrokenLine(Exception):
    """A line is damaged."""


def decode_entry(line: bytes, before: str) -> tuple[JournalEntry, str]:
    """Decode a line; returns entry and checksum. Raises `BrokenLine` if the checksum is wrong."""
    try:
        body, checksum, *_ = json.loads(line)
        entry = from_json(JournalEntry, body, "entry")
    except (ValueError, TypeError, InvalidValue) as error:
        raise BrokenLine(f"it cannot be read ({type(error).__name__})") from None
    if checksum != _checksum(body, before):
        raise BrokenLine("its checksum does not match its content and the lines before it")
    return entry, checksum


def _signature(line: bytes) -> str:
    """Return the signature of a line. Empty: it has none."""
    _, _, *signature = json.loads(line)
    return str(signature[0]) if signature else ""


def _checksum(body: object, before: str) -> str:
    return sha256(f"{before}{canonical_json_text(body)}".encode()).hexdigest()


def hold_prior(entry: JournalEntry) -> Json:
    """Return the previous value in a `held` entry."""
    return entry.data.get("prior")  # type: ignore[return-value]  # it was read from JSON


def entry_json(entry: JournalEntry) -> str:
    """Return an entry as one line of JSON."""
    return json.dumps(to_json(entry), separators=(",", ":"), ensure_ascii=False)


Watcher = Callable[[JournalEntry], None]
"""Called with every entry once it is written."""


class JournalLost(Refused):
    """The journal cannot be written, so the run must stop."""


class JournalLines(Protocol):
    """Storage of the lines of one journal."""

    @property
    def location(self) -> str:
        """File or object folder, for messages."""
        ...

    async def read(self) -> bytes:
        """Return all complete lines, each with its newline."""
        ...

    async def append(self, first: int, lines: bytes) -> None:
        """Append lines durably; `first` is the number of the first one.

        Raises `Refused` if another process has appended lines, or if they cannot be written.
        """
        ...


class Journal:
    """Appends entries to the lines of a journal."""

    def __init__(
        self,
        lines: JournalLines,
        clock: Clock,
        entries: tuple[JournalEntry, ...],
        last: str,
        keys: JournalKeys | None = None,
    ) -> None:
        self._keys = keys
        self._lines = lines
        self._clock = clock
        self._entries = list(entries)
        self._last = last
        self._waiting: list[tuple[bytes, JournalEntry]] = []
        self._batch: list[tuple[bytes, JournalEntry]] = []
        """Entries being written; written again unchanged if the write was interrupted."""
        self._turn = asyncio.Lock()
        self._number = len(entries)
        self._written = len(entries)
        self.watchers: list[Watcher] = []

    @property
    def location(self) -> str:
        return self._lines.location

    @property
    def entries(self) -> tuple[JournalEntry, ...]:
        """All written entries, in order."""
        return tuple(self._entries)

    async def append(
        self, event: EntryType, step: str = "", data: Mapping[str, object] | None = None
    ) -> JournalEntry:
        """Write an entry durably and return it."""
        entry = self.add(event, step, data)
        async with self._turn:
            while self._written < entry.number:
                await self._write()
        return entry

    def add(
        self, event: EntryType, step: str = "", data: Mapping[str, object] | None = None
    ) -> JournalEntry:
        """Add an entry that is written together with the next appended one."""
        entry = JournalEntry(
            number=self._number + 1,
            at=self._clock.now(),
            event=event,
            step=step,
            data=dict(data or {}),
        )
        try:
            line, self._last = encode_entry(entry, self._last, self._keys)
        except EntryTooLong as error:
            raise Refused(problems.journal_too_long(error.args[0], MAX_LINE_BYTES)) from None
        self._number += 1
        self._waiting.append((line, entry))
        return entry

    async def _write(self) -> None:
        if not self._batch:
            # Entries that other steps add in this turn are written in the same batch.
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


async def open_journal(
    lines: JournalLines, clock: Clock, keys: JournalKeys | None = None
) -> Journal:
    """Open a journal to append to it; raises `Refused` if it is damaged.

    With `keys` also if it is not signed with them.
    """
    entries, last = parse_journal(await lines.read(), lines.location, keys)
    return Journal(lines, clock, entries, last, keys)


def parse_journal(
    content: bytes, location: str, keys: JournalKeys | None = None
) -> tuple[tuple[JournalEntry, ...], str]:
    """Return the entries of a journal, and the checksum of the last one."""
    entries: list[JournalEntry] = []
    last = FIRST_CHECKSUM
    lines = content.splitlines(keepends=True)
    for number, line in enumerate(lines, 1):
        try:
            entry, last = decode_entry(line, last)
        except BrokenLine as error:
            raise Refused(problems.journal_corrupt(location, number, str(error))) from None
        if entry.number != number:
            why = f"its number is {entry.number}"
            raise Refused(problems.journal_corrupt(location, number, why))
        entries.append(entry)
    # The checksum of a line covers all lines before it.
    if keys is not None and lines and not keys.is_signed(last, _signature(lines[-1])):
        raise Refused(problems.unsigned_run(location, "its journal is not signed with its key"))
    if entries and entries[0].text("schema") != JOURNAL_SCHEMA:
        raise Refused(problems.journal_schema(location, entries[0].text("schema"), JOURNAL_SCHEMA))
    return tuple(entries), last
