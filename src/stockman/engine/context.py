"""How somebody stops a run: once to end it well, twice to end it now."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from stockman.engine.journal import Journal
from stockman.engine.lock import Fence
from stockman.engine.shared_clock import yield_turn
from stockman.model.errors import Busy, StockmanError
from stockman.model.parallelism import MAX_PARALLEL
from stockman.model.problem import Problem
from stockman.model.record import record, to_plain_value
from stockman.ports.system import Entropy
from stockman.steps.plan import Plan
from stockman.steps.ports import Ports
from stockman.steps.step import Retry


class RunStopped(Exception):
    """The run was asked to stop before this had an effect."""


class StopRequest:
    """Counts how often somebody asked; Ctrl-C calls `ask`."""

    def __init__(self) -> None:
        self._count = 0
        self.on_immediate: list[Callable[[], object]] = []
        """Called when it is to be at once."""

    def request(self) -> None:
        """The first time: start nothing new, finish what has an effect, give back what is held.
        The second time: leave everything as it is."""
        self._count += 1
        if self._count == 2:
            for callback in self.on_immediate:
                callback()

    @property
    def is_requested(self) -> bool:
        return self._count > 0

    @property
    def is_immediate(self) -> bool:
        return self._count > 1

    def check(self) -> None:
        if self.is_requested:
            raise RunStopped


def retry_delay(attempt: int, retry: Retry, entropy: Entropy, error: StockmanError) -> float:
    """Seconds before the attempt after number `attempt`; at least what the other side asks for.

    Between half and all of a wait that doubles each time.
    """
    full = min(retry.first_wait * 2.0 ** (attempt - 1), retry.longest_wait)
    share = entropy.random_bytes(1)[0] / 255
    minimum = error.retry_after if isinstance(error, Busy) and error.retry_after else 0.0
    return max(full * (0.5 + share / 2), minimum)


_SLICE = 1.0
"""Seconds of a wait after which is looked whether somebody wants the run to stop."""


@record
class RunSettings:
    """How a run goes."""

    max_parallel: int = MAX_PARALLEL
    """Steps side by side at most."""


class RunContext:
    """One run: its plan, its doors, its journal, its fence, and whether it is to stop."""

    def __init__(
        self, plan: Plan, ports: Ports, journal: Journal, fence: Fence, stop: StopRequest
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
            raise RunStopped
        self.stop.check()

    async def sleep(self, seconds: float) -> None:
        """Let time pass; `Stopped` as soon as the run is to stop."""
        remaining = seconds
        while remaining > 0:
            self.raise_if_stopping()
            await yield_turn()
            await self.ports.clock.sleep(min(remaining, _SLICE))
            remaining -= _SLICE
        self.raise_if_stopping()


def problem_to_json(problem: Problem) -> dict[str, object]:
    """A problem as the journal keeps it."""
    value = to_plain_value(problem)
    return {**value, "where": str(problem.where)} if isinstance(value, dict) else {}
