"""What is recent enough to act upon: looks and gates of the same step."""

from __future__ import annotations

from datetime import datetime, timedelta

from stockman.ports.clock import Clock
from stockman.steps.looks import Looks

RECENT = timedelta(seconds=1)
"""Older answers are asked for again before anything is done."""


class RecentLooks(Looks):
    """Keeps what one step saw, for whoever asks first and soon."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._seen: dict[str, tuple[datetime, object]] = {}

    def keep(self, what: str, seen: object) -> None:
        self._seen[what] = (self._clock.now(), seen)

    def taken(self, what: str) -> object | None:
        at, seen = self._seen.pop(what, (None, None))
        return seen if at is not None and is_recent(at, self._clock) else None


def is_recent(at: datetime, clock: Clock) -> bool:
    """Whether a moment is a short while ago; one that a clock set back makes later is not."""
    return timedelta() <= clock.now() - at < RECENT
