"""Another configuration for a machine that runs, without a reboot."""

from __future__ import annotations

from typing import ClassVar

from stockman.model.errors import Refused
from stockman.model.record import record
from stockman.ports.talos.configuration import Application, ApplyMode
from stockman.steps import talos_problems as problems
from stockman.steps.base import Action
from stockman.steps.ports import Ports
from stockman.steps.talos_machine import TalosMachine
from stockman.steps.talos_rendered import planned_configuration
from stockman.talos.machine.values import ConfigurationValues, configuration_values, differing


@record
class ChangeConfiguration(Action):
    """Let a machine take another configuration on while it runs."""

    kind: ClassVar[str] = "talos.change"
    machine: TalosMachine
    minor: str
    before: str
    """Digest of the configuration that it has."""
    digest: str
    """Digest of the one that it should have."""

    @property
    def summary(self) -> str:
        return f"change the configuration of {self.machine.node} while it runs"

    @property
    def touches(self) -> tuple[str, ...]:
        return (self.machine.touched,)

    async def done(self, ports: Ports) -> bool:
        _, wanted = await planned_configuration(ports, self.machine.node, self.minor, self.digest)
        return not differing(await active(ports, self.machine, self.minor), wanted)

    async def run(self, ports: Ports) -> None:
        text, wanted = await planned_configuration(
            ports, self.machine.node, self.minor, self.digest
        )
        found = await active(ports, self.machine, self.minor)
        if not differing(found, wanted):
            return
        refuse_moved(self.machine, found, wanted, self.before)
        application = Application(text=text, mode=ApplyMode.NO_REBOOT)
        await ports.to_talos().apply_configuration(self.machine.address, application)


async def active(ports: Ports, machine: TalosMachine, minor: str) -> ConfigurationValues:
    """The configuration that a machine lives by."""
    found = await ports.to_talos().machine_configuration(machine.address)
    return configuration_values(found, minor)


def refuse_moved(
    machine: TalosMachine, found: ConfigurationValues, wanted: ConfigurationValues, before: str
) -> None:
    """Stop where a machine is of another cluster, or was changed by somebody else."""
    if found.authority != wanted.authority:
        why = "the authority of its certificates is not that of this cluster"
        raise Refused(problems.another_cluster(machine.node, machine.address, why))
    if found.digest != before:
        why = f"the digest of its configuration is {found.digest[:12]}, and was {before[:12]}"
        raise Refused(problems.moved(machine.node, machine.address, why))
