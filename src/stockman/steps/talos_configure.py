"""The first configuration of a machine."""

from __future__ import annotations

from typing import ClassVar

from stockman.model.errors import Locked, Refused, Uncertain, Unreachable, Unsupported
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.ports.talos import Talos
from stockman.ports.talos.configuration import Application, ApplyMode
from stockman.steps import talos_problems as problems
from stockman.steps.base import Action
from stockman.steps.ports import Ports
from stockman.steps.talos_machine import (
    NO_ANSWER,
    Look,
    Standing,
    TalosMachine,
    look_at,
    settled_look,
    stranger_is,
)
from stockman.steps.talos_rendered import planned_configuration
from stockman.steps.talos_waiting import Waiting
from stockman.talos.machine.values import ConfigurationValues, configuration_values, differing


@record
class ConfigureMachine(Action):
    """Give a machine in maintenance its configuration, and wait until it lives by it.

    It is sent once to a machine that is the one meant, and only while that waits for it: one
    that installs or boots is waited for.
    """

    kind: ClassVar[str] = "talos.configure"
    machine: TalosMachine
    minor: str
    """Of the Talos that reads the configuration, `1.13`."""
    digest: str
    """Of the configuration, without its secrets."""
    installs: bool = False
    """Whether it is written to a disk first, as machines are that booted from an ISO image."""
    version: str = ""
    """The Talos that it has to have booted, `v1.13.9`. Empty: any."""
    every: float = 5.0
    patience: float = 1800.0

    @property
    def summary(self) -> str:
        how = "install and configure" if self.installs else "configure"
        return f"{how} {self.machine.node} ({self.machine.address})"

    @property
    def touches(self) -> tuple[str, ...]:
        return (self.machine.touched,)

    async def done(self, ports: Ports) -> bool:
        talos = ports.to_talos()
        look = await look_at(talos, self.machine.address)
        if look.standing is not Standing.CONFIGURED:
            return False
        _, wanted = await self._planned(ports)
        return not differing(await self._active(talos), wanted)

    async def run(self, ports: Ports) -> None:
        talos = ports.to_talos()
        text, wanted = await self._planned(ports)
        waiting = Waiting(ports.clock, self.machine, self.patience, self.every)
        is_sent = False
        while True:
            look = await settled_look(talos, ports.clock, self.machine.address)
            if look.standing is Standing.FOREIGN and not is_sent:
                raise Refused(self._foreign(look))
            if look.standing is Standing.CONFIGURED and await self._lives_by(talos, wanted):
                return
            if look.standing is Standing.MAINTENANCE and not is_sent:
                is_sent = await self._sent(talos, text)
            await waiting.longer(look.why or f"it is {look.standing.value}")

    async def _planned(self, ports: Ports) -> tuple[Secret, ConfigurationValues]:
        return await planned_configuration(ports, self.machine.node, self.minor, self.digest)

    async def _active(self, talos: Talos) -> ConfigurationValues:
        found = await talos.machine_configuration(self.machine.address)
        return configuration_values(found, self.minor)

    async def _lives_by(self, talos: Talos, wanted: ConfigurationValues) -> bool:
        try:
            active = await self._active(talos)
        except NO_ANSWER:
            return False
        if active.authority != wanted.authority:
            why = "the authority of its certificates is not that of this cluster"
            raise Refused(problems.another_cluster(self.machine.node, self.machine.address, why))
        if paths := differing(active, wanted):
            why = f"it has got another configuration, which differs in {paths[0]}"
            raise Refused(problems.moved(self.machine.node, self.machine.address, why))
        return True

    async def _sent(self, talos: Talos, text: Secret) -> bool:
        """Whether the machine has the configuration, or may have it."""
        machine = self.machine
        flaw = await stranger_is(talos, machine)
        if flaw:
            raise Refused(problems.another_machine(machine.node, machine.address, flaw))
        await self._refuse_another_talos(talos)
        application = Application(text=text, mode=ApplyMode.AUTO)
        try:
            await talos.configure(machine.stranger, application)
        except (Locked, Uncertain):
            return True
        except Unreachable:
            return False
        return True

    async def _refuse_another_talos(self, talos: Talos) -> None:
        """A VM whose disk is not the new one boots what was there before.

        Machines before Talos 1.13 do not tell strangers what they run.
        """
        if not self.version:
            return
        try:
            runs = (await talos.maintenance_version(self.machine.stranger)).tag
        except Unsupported:
            return
        if runs != self.version:
            node, address = self.machine.node, self.machine.address
            raise Refused(problems.old_image(node, address, runs, self.version))

    def _foreign(self, look: Look) -> Problem:
        return problems.another_cluster(self.machine.node, self.machine.address, look.why)
