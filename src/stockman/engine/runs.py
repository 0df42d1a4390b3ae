"""Stores of runs: the plan and the journal of each run."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Protocol

from stockman.engine.journal import JournalLines
from stockman.ports.system import Entropy


class RunStore(Protocol):
    """All runs of one cluster."""

    @property
    def location(self) -> str:
        """Directory or object folder, for messages."""
        ...

    async def create(self, run: str, plan: str) -> JournalLines:
        """Create a run, and store its plan durably."""
        ...

    async def list_runs(self) -> tuple[str, ...]:
        """List all runs, oldest first."""
        ...

    async def lines(self, run: str) -> JournalLines:
        """Return the journal of a run; raises `NotFound`."""
        ...

    async def plan(self, run: str) -> str:
        """Return the text of the plan of a run; raises `NotFound`."""
        ...


_MOMENT = "%Y%m%dt%H%M%Sz"
_SECOND = timedelta(seconds=1)


def new_run_name(now: datetime, entropy: Entropy, after: str = "") -> str:
    """Return a unique name for a run that sorts by time, and after the run `after`.

    If `after` has the same or a later time, the new name contains the second after it.
    """
    before = _moment(after)
    if before is not None:
        now = max(now, before + _SECOND)
    return f"{now:{_MOMENT}}-{entropy.random_bytes(3).hex()}"


def newest_run(runs: Sequence[str]) -> str:
    """Return the last of sorted runs with a valid name; empty if there is none."""
    return next((run for run in reversed(runs) if _moment(run) is not None), "")


def _moment(run: str) -> datetime | None:
    try:
        return datetime.strptime(run.partition("-")[0], _MOMENT).replace(tzinfo=UTC)
    except ValueError:
        return None
