"""Waiting until a new machine has come up."""

from __future__ import annotations

from typing import ClassVar

from stockman.model.errors import Refused
from stockman.model.record import record
from stockman.ports.talos import Talos
from stockman.steps import talos_problems as problems
from stockman.steps.base import Action
from stockman.steps.ports import Ports
from stockman.steps.talos_absent import VmPlace, absence
from stockman.steps.talos_machine import (
    NO_ANSWER,
    Look,
    Standing,
    TalosMachine,
    settled_look,
    stranger_is,
)
from stockman.steps.talos_waiting import Waiting


@record
class AwaitMachine(Action):
    """Wait until a machine waits for its configuration, or has one, and go on answering.

    Machines answer once and are gone again while their network settles: only several answers in
    a row count.
    """

    kind: ClassVar[str] = "talos.await"
    machine: TalosMachine
    looks: int = 3
    """So many answers in a row."""
    every: float = 5.0
    """Seconds between two of them."""
    patience: float = 1200.0
    """Seconds."""
    vm: VmPlace | None = None
    """Asked how it is when the machine does not come up. None: it is not ours to know."""

    @property
    def summary(self) -> str:
        return f"wait until {self.machine.node} waits for its configuration"

    @property
    def touches(self) -> tuple[str, ...]:
        return ()

    async def done(self, ports: Ports) -> bool:
        for number in range(self.looks):
            if number:
                await ports.clock.sleep(self.every)
            look = await self._look(ports)
            if look.standing is Standing.CONFIGURED:
                return True
            if look.standing is not Standing.MAINTENANCE:
                return False
        return True

    async def run(self, ports: Ports) -> None:
        waiting = Waiting(ports.clock, self.machine, self.patience, self.every)
        answers = 0
        while True:
            look = await self._look(ports)
            answers = answers + 1 if look.standing is Standing.MAINTENANCE else 0
            if look.standing is Standing.CONFIGURED or answers >= self.looks:
                return
            if waiting.waited >= self.patience:
                raise await absence(ports, self.machine, self.vm, look, waiting.waited)
            await waiting.longer(look.why)

    async def _look(self, ports: Ports) -> Look:
        talos = ports.to_talos()
        look = await settled_look(talos, ports.clock, self.machine.address)
        if look.standing is Standing.FOREIGN:
            node, address = self.machine.node, self.machine.address
            raise Refused(problems.another_cluster(node, address, look.why))
        if look.standing is Standing.MAINTENANCE:
            return await self._identified(talos)
        return look

    async def _identified(self, talos: Talos) -> Look:
        try:
            flaw = await stranger_is(talos, self.machine)
        except NO_ANSWER as no:
            return Look(standing=Standing.SILENT, why=no.problem.why)
        if flaw:
            node, address = self.machine.node, self.machine.address
            raise Refused(problems.another_machine(node, address, flaw))
        return Look(standing=Standing.MAINTENANCE)
