"""The time."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> datetime:
        """This moment, with its time zone."""
        ...


class Timekeeper(Clock, Protocol):
    """Tells the time, and lets it pass."""

    async def sleep(self, seconds: float) -> None:
        """Return once so many seconds have passed."""
        ...
