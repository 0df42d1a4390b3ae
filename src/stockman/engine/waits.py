"""How long the steps of a run waited for their gates."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from stockman.engine.entry import Entry, Event
from stockman.model.record import record


@record
class Wait:
    """A gate that was closed for a while."""

    step: str
    gate: str
    seconds: float
    is_over: bool
    """False: it is still closed, as far as the journal knows."""


def gate_waits(entries: Iterable[Entry]) -> tuple[Wait, ...]:
    """Every wait, in the order in which they ended.

    Time in which nobody worked on the run, because it was killed or paused, is none.
    """
    found: list[Wait] = []
    since: dict[tuple[str, str], datetime] = {}
    last: datetime | None = None

    def ended(at: datetime, *, step: str = "", gate: str = "", over: bool = True) -> None:
        for key in list(since):
            if step in ("", key[0]) and gate in ("", key[1]):
                seconds = (at - since.pop(key)).total_seconds()
                found.append(Wait(step=key[0], gate=key[1], seconds=seconds, is_over=over))

    for entry in entries:
        match entry.event:
            case Event.GATE if entry.text("answer") == "wait":
                since.setdefault((entry.step, entry.text("gate")), entry.at)
            case Event.GATE:
                ended(entry.at, step=entry.step, gate=entry.text("gate"))
            case Event.STARTED | Event.FINISHED | Event.FAILED:
                ended(entry.at, step=entry.step)
            case Event.PAUSED | Event.ENDED:
                ended(entry.at)
            case Event.NOTE if entry.data.get("resumed"):
                ended(last or entry.at)
        last = entry.at
    if last is not None:
        ended(last, over=False)
    return tuple(found)
