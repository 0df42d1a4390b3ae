"""Entries of a journal, each a line of JSON whose checksum covers all lines before it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from enum import Enum
from hashlib import sha256

from stockman.model.record import record
from stockman.steps.base import Json
from stockman.steps.digest import canonical_json
from stockman.steps.form import Unfit, read, written

SCHEMA = "stockman.journal/1"
"""In the first entry of every journal."""
LONGEST = 64 * 1024
"""Bytes of a line; more than that is refused before it is written."""
START = "0" * 64
"""What the first line follows."""


class Event(Enum):
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
class Entry:
    """One thing that happened in a run."""

    number: int
    """From 1, without gaps."""
    at: datetime
    event: Event
    step: str = ""
    """Empty: about the whole run."""
    data: Mapping[str, object] = field(default_factory=dict)
    """What else is to be told; JSON, and never a secret."""

    def text(self, name: str) -> str:
        """A text of the data; empty where there is none."""
        found = self.data.get(name, "")
        return found if isinstance(found, str) else ""


class TooLong(Exception):
    """An entry that is longer than a line may be."""


def line_of(entry: Entry, before: str) -> tuple[bytes, str]:
    """An entry as a line that follows the one with this checksum, and its own checksum.

    `TypeError` where the data holds a secret or anything else that is not JSON.
    """
    body = written(entry)
    checksum = _checksum(body, before)
    line = json.dumps([body, checksum], separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
    if len(line) > LONGEST:
        raise TooLong(len(line))
    return line, checksum


class Broken(Exception):
    """A line that is not what was written."""


def entry_of(line: bytes, before: str) -> tuple[Entry, str]:
    """The entry of a line, and its checksum; `Broken` where it does not follow the one before."""
    try:
        body, checksum = json.loads(line)
        entry = read(Entry, body, "entry")
    except (ValueError, TypeError, Unfit) as no:
        raise Broken(f"it cannot be read ({type(no).__name__})") from None
    if checksum != _checksum(body, before):
        raise Broken("its checksum is not that of its content and of all lines before it")
    return entry, checksum


def _checksum(body: object, before: str) -> str:
    return sha256(f"{before}{canonical_json(body)}".encode()).hexdigest()


def prior_of(entry: Entry) -> Json:
    """What a `held` entry says was there before."""
    return entry.data.get("prior")  # type: ignore[return-value]  # it was read from JSON
