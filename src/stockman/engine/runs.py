"""Where runs are kept: for each its plan, and the lines of its journal."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from stockman.engine.journal import Lines
from stockman.ports.entropy import Entropy


class Runs(Protocol):
    """All runs of one cluster."""

    @property
    def place(self) -> str:
        """Its name, for people."""
        ...

    async def create(self, run: str, plan: str) -> Lines:
        """Begin a run with the text of its plan; the plan is there for good afterwards."""
        ...

    async def listed(self) -> tuple[str, ...]:
        """Every run that was begun, the oldest first."""
        ...

    async def lines(self, run: str) -> Lines:
        """The journal of a run; `NotFound` where there is no such run."""
        ...

    async def plan(self, run: str) -> str:
        """The text of a run's plan; `NotFound` where there is no such run."""
        ...


def new_run(now: datetime, entropy: Entropy) -> str:
    """A name for a run: sorts by time, and is never given twice."""
    return f"{now:%Y%m%dt%H%M%Sz}-{entropy.random_bytes(3).hex()}"
