"""The context of a run: plan, ports, journal, fence and stop request."""

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
    """The run stops before this had an effect."""


class StopRequest:
    """A request to stop the run; Ctrl-C calls `request`."""

    def __init__(self) -> None:
        self._count = 0
        self.on_immediate: list[Callable[[], object]] = []
        """Called when the stop is requested for the second time."""

    def request(self) -> None:
        """Request the stop.

        After the first request no step starts, running steps finish and holds are released. After
        the second request the run ends immediately.
        """
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
        """Raise `RunStopped` if the stop is requested."""
        if self.is_requested:
            raise RunStopped


def retry_delay(attempt: int, retry: Retry, entropy: Entropy, error: StockmanError) -> float:
    """Return the seconds to wait after attempt number `attempt`.

    A random value between half of and the full wait, which doubles each time; at least the
    `retry_after` of the error.
    """
    full = min(retry.first_wait * 2.0 ** (attempt - 1), retry.longest_wait)
    share = entropy.random_bytes(1)[0] / 255
    minimum = error.retry_after if isinstance(error, Busy) and error.retry_after else 0.0
    return max(full * (0.5 + share / 2), minimum)


_SLICE = 1.0
"""Seconds between checks for a stop request during a wait."""


@record
class RunSettings:
    """Settings of a run."""

    max_parallel: int = MAX_PARALLEL
    """Maximum number of parallel steps."""


class RunContext:
    """A run: its plan, ports, journal, fence and stop request."""

    def __init__(
        self, plan: Plan, ports: Ports, journal: Journal, fence: Fence, stop: StopRequest
    ) -> None:
        self.plan = plan
        self.ports = replace(ports, permit=fence.check)
        self.journal = journal
        self.fence = fence
        self.stop = stop
        self.halted = False
        """Whether a step failed, so that no further step starts."""

    def raise_if_stopping(self) -> None:
        """Raise `RunStopped` if no further step may start."""
        if self.halted:
            raise RunStopped
        self.stop.check()

    async def sleep(self, seconds: float) -> None:
        """Sleep; raises `RunStopped` as soon as the run stops."""
        remaining = seconds
        while remaining > 0:
            self.raise_if_stopping()
            await yield_turn()
            await self.ports.clock.sleep(min(remaining, _SLICE))
            remaining -= _SLICE
        self.raise_if_stopping()


def problem_to_json(problem: Problem) -> dict[str, object]:
    """Return a problem as JSON for the journal."""
    value = to_plain_value(problem)
    return {**value, "where": str(problem.where)} if isinstance(value, dict) else {}
