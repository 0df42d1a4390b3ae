"""Another configuration for a machine that has to boot for it."""

from __future__ import annotations

from contextlib import suppress
from typing import ClassVar

from stockman.model.errors import Refused, Uncertain
from stockman.model.record import record
from stockman.ports.talos.configuration import Application, ApplyMode
from stockman.steps import talos_problems as problems
from stockman.steps.base import Action
from stockman.steps.ports import Ports
from stockman.steps.talos_change import active, refuse_moved
from stockman.steps.talos_machine import NO_ANSWER, TalosMachine
from stockman.steps.talos_rendered import planned_configuration
from stockman.steps.talos_waiting import Waiting
from stockman.talos.machine.values import ConfigurationValues, differing

_RUNNING = "running"


@record
class RebootIntoConfiguration(Action):
    """Stage a configuration, and boot the machine into it, once.

    The boot that it was planned in is known: a machine that has booted since is not booted again.
    """

    kind: ClassVar[str] = "talos.reboot-into"
    machine: TalosMachine
    minor: str
    before: str
    """Digest of the configuration that it has."""
    digest: str
    """Digest of the one that it should have."""
    boot_id: str
    every: float = 5.0
    patience: float = 1200.0

    @property
    def summary(self) -> str:
        return f"stage the configuration of {self.machine.node}, and reboot it"

    @property
    def touches(self) -> tuple[str, ...]:
        return (self.machine.touched,)

    async def done(self, ports: Ports) -> bool:
        _, wanted = await planned_configuration(ports, self.machine.node, self.minor, self.digest)
        talos = ports.to_talos()
        try:
            if await talos.boot_id(self.machine.address) == self.boot_id:
                return False
            status = await talos.machine_status(self.machine.address)
            found = await active(ports, self.machine, self.minor)
        except NO_ANSWER:
            # A machine that is silent boots: it is waited for, and not booted again.
            return False
        return status.stage == _RUNNING and not differing(found, wanted)

    async def run(self, ports: Ports) -> None:
        text, wanted = await planned_configuration(
            ports, self.machine.node, self.minor, self.digest
        )
        talos, address = ports.to_talos(), self.machine.address
        if await self._is_same_boot(ports):
            found = await active(ports, self.machine, self.minor)
            if differing(found, wanted):
                refuse_moved(self.machine, found, wanted, self.before)
                application = Application(text=text, mode=ApplyMode.STAGED)
                await talos.apply_configuration(address, application)
            # Whether it boots is seen by its boot id.
            with suppress(Uncertain):
                await talos.reboot(address)
        await self._up(ports, wanted)

    async def _is_same_boot(self, ports: Ports) -> bool:
        """Whether it has not booted yet; one that is silent is on its way."""
        try:
            return await ports.to_talos().boot_id(self.machine.address) == self.boot_id
        except NO_ANSWER:
            return False

    async def _up(self, ports: Ports, wanted: ConfigurationValues) -> None:
        talos, machine = ports.to_talos(), self.machine
        waiting = Waiting(ports.clock, machine, self.patience, self.every)
        while True:
            try:
                booted = await talos.boot_id(machine.address) != self.boot_id
                stage = (await talos.machine_status(machine.address)).stage
                why = f"its stage is {stage}" if booted else "it has not booted yet"
            except NO_ANSWER as no:
                booted, stage, why = False, "", no.problem.why
            if booted and stage == _RUNNING:
                break
            await waiting.longer(why)
        if paths := differing(await active(ports, machine, self.minor), wanted):
            why = f"it booted, and its configuration still differs in {paths[0]}"
            raise Refused(problems.moved(machine.node, machine.address, why))
