"""What everything that works on one run has in common."""

from __future__ import annotations

from dataclasses import replace

from stockman.engine.fence import Fence
from stockman.engine.journal import Journal
from stockman.engine.shared_clock import turn
from stockman.engine.stop import Stop, Stopped
from stockman.model.parallelism import MAX_PARALLEL
from stockman.model.problem import Problem
from stockman.model.record import plain, record
from stockman.steps.plan import Plan
from stockman.steps.ports import Ports

_SLICE = 1.0
"""Seconds of a wait after which is looked whether somebody wants the run to stop."""


@record
class Settings:
    """How a run goes."""

    max_parallel: int = MAX_PARALLEL
    """Steps side by side at most."""


class Context:
    """One run: its plan, its doors, its journal, its fence, and whether it is to stop."""

    def __init__(
        self, plan: Plan, ports: Ports, journal: Journal, fence: Fence, stop: Stop
    ) -> None:
        self.plan = plan
        self.ports = replace(ports, permit=fence.check)
        self.journal = journal
        self.fence = fence
        self.stop = stop
        self.halted = False
        """Whether something failed, so that nothing new is begun."""

    def raise_if_stopping(self) -> None:
        """`Stopped` where nothing may begin any more."""
        if self.halted:
            raise Stopped
        self.stop.raise_if_asked()

    async def nap(self, seconds: float) -> None:
        """Let time pass; `Stopped` as soon as the run is to stop."""
        left = seconds
        while left > 0:
            self.raise_if_stopping()
            await turn()
            await self.ports.clock.sleep(min(left, _SLICE))
            left -= _SLICE
        self.raise_if_stopping()


def problem_data(problem: Problem) -> dict[str, object]:
    """A problem as the journal keeps it."""
    found = plain(problem)
    return {**found, "where": str(problem.where)} if isinstance(found, dict) else {}
