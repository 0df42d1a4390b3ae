"""Waiting for a machine, and not for ever."""

from __future__ import annotations

from datetime import datetime

from stockman.model.errors import Unreachable
from stockman.ports.clock import Timekeeper
from stockman.steps import talos_problems as problems
from stockman.steps.talos_machine import TalosMachine

_FIRST = 1.0
"""Seconds before the second look: a machine that is quick is not waited for longer than that."""


class Waiting:
    """Lets time pass between looks at a machine, soon more and more, up to a limit."""

    def __init__(
        self, clock: Timekeeper, machine: TalosMachine, patience: float, every: float
    ) -> None:
        self._clock = clock
        self._machine = machine
        self._patience = patience
        self._every = every
        self._pause = min(_FIRST, every)
        self._since: datetime = clock.now()

    @property
    def waited(self) -> float:
        """Seconds since the first look."""
        return (self._clock.now() - self._since).total_seconds()

    async def longer(self, why: str) -> None:
        """Wait for the next look; `Unreachable` once there was enough of it."""
        if self.waited >= self._patience:
            machine = self._machine
            raise Unreachable(problems.late(machine.node, machine.address, self.waited, why))
        await self._clock.sleep(self._pause)
        self._pause = min(self._pause * 2, self._every)
