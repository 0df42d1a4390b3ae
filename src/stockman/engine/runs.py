"""Where runs are kept: for each its plan, and the lines of its journal."""

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
        """Its name, for people."""
        ...

    async def create(self, run: str, plan: str) -> JournalLines:
        """Begin a run with the text of its plan; the plan is there for good afterwards."""
        ...

    async def list_runs(self) -> tuple[str, ...]:
        """Every run that was begun, the oldest first."""
        ...

    async def lines(self, run: str) -> JournalLines:
        """The journal of a run; `NotFound` where there is no such run."""
        ...

    async def plan(self, run: str) -> str:
        """The text of a run's plan; `NotFound` where there is no such run."""
        ...


_MOMENT = "%Y%m%dt%H%M%Sz"
_SECOND = timedelta(seconds=1)


def new_run_name(now: datetime, entropy: Entropy, after: str = "") -> str:
    """A name for a run: sorts by time, after the run given, and is never given twice.

    Of two that begin in the same second, or by clocks that differ, the second has a later moment
    in its name than it began at.
    """
    before = _moment(after)
    if before is not None:
        now = max(now, before + _SECOND)
    return f"{now:{_MOMENT}}-{entropy.random_bytes(3).hex()}"


def newest_run(runs: Sequence[str]) -> str:
    """The last of runs that are sorted; empty where none has a name of ours."""
    return next((run for run in reversed(runs) if _moment(run) is not None), "")


def _moment(run: str) -> datetime | None:
    try:
        return datetime.strptime(run.partition("-")[0], _MOMENT).replace(tzinfo=UTC)
    except ValueError:
        return None
