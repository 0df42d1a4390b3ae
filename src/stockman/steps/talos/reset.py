"""Resets machines that leave the cluster."""

from __future__ import annotations

from contextlib import suppress
from typing import ClassVar

from stockman.model.errors import Refused, Uncertain
from stockman.model.record import record
from stockman.steps.base import Action
from stockman.steps.ports import Ports
from stockman.steps.talos import problems
from stockman.steps.talos.machine import (
    MachineState,
    TalosMachine,
    probe_machine,
    refuse_other_machine,
)
from stockman.steps.talos.wait import MachineWait
from stockman.talos.records.operations import ResetRequest, WipeMode

_GONE = (MachineState.SILENT, MachineState.MAINTENANCE)


@record
class ResetMachine(Action):
    """Wipe the configuration and state of a machine that has left, and power it off.

    Other disks stay as they are. A machine that is silent needs it no more: its VM goes next.
    """

    kind: ClassVar[str] = "talos.reset"
    machine: TalosMachine
    every: float = 5.0
    patience: float = 900.0

    @property
    def summary(self) -> str:
        return f"reset {self.machine.node} ({self.machine.address}) and switch it off"

    @property
    def touches(self) -> tuple[str, ...]:
        return (self.machine.touched,)

    @property
    def destroys(self) -> str:
        return f"what {self.machine.node} keeps on its system disk"

    async def done(self, ports: Ports) -> bool:
        look = await probe_machine(ports.to_talos(), self.machine.address)
        return look.standing in _GONE

    async def run(self, ports: Ports) -> None:
        talos, machine = ports.to_talos(), self.machine
        look = await probe_machine(talos, machine.address)
        if look.standing in _GONE:
            return
        if look.standing is MachineState.FOREIGN:
            raise Refused(problems.foreign_machine(machine.node, machine.address, look.why))
        await refuse_other_machine(talos, machine)
        reset = ResetRequest(
            graceful=False,
            reboot=False,
            mode=WipeMode.SYSTEM_DISK,
            partitions=("STATE", "EPHEMERAL"),
        )
        # Whether it goes down is seen.
        with suppress(Uncertain):
            await talos.reset(machine.address, reset)
        waiting = MachineWait(ports.clock, machine, self.patience, self.every)
        while not await self.done(ports):
            await waiting.longer("it still answers")
