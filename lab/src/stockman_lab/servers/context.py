"""What all doors of a world share while they are open."""

from __future__ import annotations

from collections import deque
from datetime import UTC, datetime
from pathlib import Path

from stockman_lab.servers.options import ServingOptions
from stockman_lab.servers.pace import Pace
from stockman_lab.world.world import World

_LOG_LINES = 10_000


class ServingContext:
    """A world, how it is served, and what its visitors did."""

    def __init__(self, world: World, manner: ServingOptions, scratch: Path, now: datetime) -> None:
        self.world = world
        self.manner = manner
        self.scratch = scratch
        """Directory for files that only the doors need."""
        self.now = now
        """The moment outside when the doors opened."""
        self.log: deque[str] = deque(maxlen=_LOG_LINES)
        self.running: Pace | None = None
        """None: the world is not served yet."""

    @property
    def pace(self) -> Pace:
        """How the time of the world goes on; raises where it is not served."""
        if self.running is None:
            raise RuntimeError("the world is not served")
        return self.running

    def note(self, line: str) -> None:
        """Keep what a visitor did, with the moment inside."""
        moment = datetime.fromtimestamp(self.world.now, UTC)
        self.log.append(f"{moment:%Y-%m-%d %H:%M:%S} {line}")
