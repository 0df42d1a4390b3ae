"""Applies machine configurations, which are assembled from references when needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stockman.model.desired import Node
from stockman.model.errors import NotFound, Refused
from stockman.model.problem import Problem
from stockman.model.secret import Secret
from stockman.steps.ports import Ports
from stockman.steps.secret_ref import SecretRef, Secrets
from stockman.steps.talos import problems
from stockman.talos.machine.masking import ConfigurationValues, configuration_values
from stockman.talos.secrets.bundle import SecretsBundle, bundle_text

if TYPE_CHECKING:
    from stockman.talos.machine.assembly import ConfigurationAssembler
from contextlib import suppress
from typing import ClassVar

from stockman.model.errors import Locked, Uncertain, Unreachable, Unsupported
from stockman.model.record import record
from stockman.steps.base import Action
from stockman.steps.talos.machine import (
    READ_ERRORS,
    MachineProbe,
    MachineState,
    TalosMachine,
    identity_difference,
    is_same_boot,
    probe_machine,
    probe_machine_patiently,
)
from stockman.steps.talos.wait import MachineVm, MachineWait, machine_absence
from stockman.talos.api.client import TalosClient
from stockman.talos.machine.masking import changed_paths
from stockman.talos.records.operations import ApplyConfigurationRequest, ApplyMode

_MACHINE = "machine:"
BUNDLE = SecretRef(place="bundle:")
"""The secrets bundle, in the format of its file."""


def machine_config_ref(node: str) -> SecretRef:
    """Return the reference of the configuration of a node."""
    return SecretRef(place=f"{_MACHINE}{node}")


class MachineConfigSecrets:
    """Reads machine configurations and the bundle; other secrets are delegated."""

    def __init__(
        self,
        assembly: ConfigurationAssembler,
        nodes: tuple[Node, ...],
        bundle: SecretsBundle,
        others: Secrets,
    ) -> None:
        self._assembly = assembly
        self._nodes = {str(node.name): node for node in nodes}
        self._bundle = bundle
        self._others = others

    async def read(self, ref: SecretRef) -> Secret:
        """Return a secret; raises `NotFound` if there is none."""
        if ref == BUNDLE:
            return bundle_text(self._bundle)
        if not ref.place.startswith(_MACHINE):
            return await self._others.read(ref)
        name = ref.place.removeprefix(_MACHINE)
        if name not in self._nodes:
            raise NotFound(_unknown_machine(name, sorted(self._nodes)))
        return self._assembly.of(self._nodes[name]).text()

    async def write(self, ref: SecretRef, secret: Secret) -> None:
        """Store a secret; configurations are assembled and never stored."""
        await self._others.write(ref, secret)


async def read_planned_config(
    ports: Ports, node: str, minor: str, digest: str
) -> tuple[Secret, ConfigurationValues]:
    """Return the configuration of a node; raises `Refused` if it is not the planned one."""
    text = await ports.to_secrets().read(machine_config_ref(node))
    values = configuration_values(text, minor)
    if values.digest != digest:
        raise Refused(problems.config_digest_mismatch(node, digest, values.digest))
    return text, values


def _unknown_machine(name: str, known: list[str]) -> Problem:
    return Problem(
        code="node.no-node",
        what=f"there is no node {name} to make a configuration for",
        where=name,
        why=f"the nodes are {', '.join(known[:5])}" if known else "there are no nodes",
        fix="plan again: `stockman plan`",
    )


@record
class _FirstConfiguration(Action):
    """A machine that gets its first configuration, and what shows that it has it."""

    machine: TalosMachine
    minor: str
    """Minor version of Talos on the machine, `1.13`."""
    digest: str
    """Digest of the configuration without its secrets."""
    version: str = ""
    """The required Talos version, `v1.13.9`. Empty: any."""
    every: float = 5.0
    patience: float = 1800.0

    @property
    def touches(self) -> tuple[str, ...]:
        return (self.machine.touched,)

    async def done(self, ports: Ports) -> bool:
        talos = ports.to_talos()
        look = await probe_machine(talos, self.machine.address)
        if look.standing is not MachineState.CONFIGURED:
            return False
        _, desired = await self._read_planned(ports)
        return not changed_paths(await self._read_active(talos), desired)

    async def _read_planned(self, ports: Ports) -> tuple[Secret, ConfigurationValues]:
        return await read_planned_config(ports, self.machine.node, self.minor, self.digest)

    async def _read_active(self, talos: TalosClient) -> ConfigurationValues:
        configuration = await talos.machine_configuration(self.machine.address)
        return configuration_values(configuration, self.minor)

    async def _is_applied(self, talos: TalosClient, desired: ConfigurationValues) -> bool:
        try:
            active = await self._read_active(talos)
        except READ_ERRORS:
            return False
        if active.authority != desired.authority:
            why = "the authority of its certificates is not that of this cluster"
            raise Refused(problems.foreign_machine(self.machine.node, self.machine.address, why))
        if paths := changed_paths(active, desired):
            why = f"it has got another configuration, which differs in {paths[0]}"
            raise Refused(
                problems.config_changed_meanwhile(self.machine.node, self.machine.address, why)
            )
        return True

    def _require_version(self, runs: str) -> None:
        """A VM whose disk is not the new one boots what was there before."""
        if self.version and runs != self.version:
            node, address = self.machine.node, self.machine.address
            raise Refused(problems.image_too_old(node, address, runs, self.version))


@record
class AwaitConfiguration(_FirstConfiguration):
    """Wait until a machine has booted with the configuration that Proxmox VE delivered to it."""

    kind: ClassVar[str] = "talos.await-configuration"
    vm: MachineVm | None = None
    """The VM, whose state is reported if the machine does not come up. None: unknown."""
    maintenance: float = 60.0
    """Seconds in maintenance mode after which the machine has rejected its configuration."""

    @property
    def summary(self) -> str:
        machine = self.machine
        return f"wait until {machine.node} ({machine.address}) has its first configuration"

    async def run(self, ports: Ports) -> None:
        talos, machine = ports.to_talos(), self.machine
        _, desired = await self._read_planned(ports)
        waiting = MachineWait(ports.clock, machine, self.patience, self.every)
        last = ports.clock.now()
        """When it was last seen outside of maintenance mode."""
        while True:
            look = await probe_machine(talos, machine.address)
            if look.standing is not MachineState.MAINTENANCE:
                last = ports.clock.now()
            elif (ports.clock.now() - last).total_seconds() > self.maintenance:
                raise Refused(problems.seed_ignored(machine.node, machine.address))
            if look.standing is MachineState.CONFIGURED:
                self._require_version(look.version.tag if look.version is not None else "")
                if await self._is_applied(talos, desired):
                    return
            if waiting.waited >= self.patience:
                raise await machine_absence(ports, machine, self.vm, look, waiting.waited)
            await waiting.longer(look.why or f"it is {look.standing.value}")


@record
class ConfigureMachine(_FirstConfiguration):
    """Configure a machine in maintenance mode, and wait until the configuration is active.

    The configuration is sent once, to a machine with the planned identity that is in maintenance
    mode and shows the certificate that the user confirmed; while it installs or boots, the action
    waits.
    """

    kind: ClassVar[str] = "talos.configure"
    installs: bool = False
    """Whether Talos is installed to a disk first, for machines that booted from an ISO image."""

    @property
    def summary(self) -> str:
        how = "install and configure" if self.installs else "configure"
        return f"{how} {self.machine.node} ({self.machine.address})"

    async def run(self, ports: Ports) -> None:
        talos = ports.to_talos()
        text, desired = await self._read_planned(ports)
        waiting = MachineWait(ports.clock, self.machine, self.patience, self.every)
        is_sent = False
        while True:
            look = await probe_machine_patiently(talos, ports.clock, self.machine.address)
            if look.standing is MachineState.FOREIGN and not is_sent:
                raise Refused(self._foreign(look))
            if look.standing is MachineState.CONFIGURED and await self._is_applied(talos, desired):
                return
            if look.standing is MachineState.MAINTENANCE and not is_sent:
                is_sent = await self._send(talos, text)
            await waiting.longer(look.why or f"it is {look.standing.value}")

    async def _send(self, talos: TalosClient, text: Secret) -> bool:
        """Send the configuration; return whether the machine has it, or may have it."""
        machine = self.machine
        if not machine.fingerprint:
            why = "the plan has no fingerprint of its certificate"
            raise Refused(problems.first_config_unconfirmed(machine.node, machine.address, why))
        flaw = await identity_difference(talos, machine)
        if flaw:
            raise Refused(problems.machine_identity_mismatch(machine.node, machine.address, flaw))
        await self._refuse_another_talos(talos)
        application = ApplyConfigurationRequest(text=text, mode=ApplyMode.AUTO)
        try:
            await talos.apply_configuration(machine.stranger, application)
        except (Locked, Uncertain):
            return True
        except Unreachable:
            return False
        return True

    async def _refuse_another_talos(self, talos: TalosClient) -> None:
        """Machines before Talos 1.13 do not tell strangers what they run."""
        try:
            self._require_version((await talos.version(self.machine.stranger)).tag)
        except Unsupported:
            return

    def _foreign(self, look: MachineProbe) -> Problem:
        return problems.foreign_machine(self.machine.node, self.machine.address, look.why)


@record
class ChangeConfiguration(Action):
    """Let a machine take another configuration on while it runs."""

    kind: ClassVar[str] = "talos.change"
    machine: TalosMachine
    minor: str
    before: str
    """Digest of the current configuration."""
    digest: str
    """Digest of the desired configuration."""

    @property
    def summary(self) -> str:
        return f"change the configuration of {self.machine.node} while it runs"

    @property
    def touches(self) -> tuple[str, ...]:
        return (self.machine.touched,)

    async def done(self, ports: Ports) -> bool:
        _, desired = await read_planned_config(ports, self.machine.node, self.minor, self.digest)
        return not changed_paths(await read_active_config(ports, self.machine, self.minor), desired)

    async def run(self, ports: Ports) -> None:
        text, desired = await read_planned_config(ports, self.machine.node, self.minor, self.digest)
        active = await read_active_config(ports, self.machine, self.minor)
        if not changed_paths(active, desired):
            return
        refuse_changed_machine(self.machine, active, desired, self.before)
        application = ApplyConfigurationRequest(text=text, mode=ApplyMode.NO_REBOOT)
        await ports.to_talos().apply_configuration(self.machine.address, application)


async def read_active_config(
    ports: Ports, machine: TalosMachine, minor: str
) -> ConfigurationValues:
    """Return the active configuration of a machine."""
    configuration = await ports.to_talos().machine_configuration(machine.address)
    return configuration_values(configuration, minor)


def refuse_changed_machine(
    machine: TalosMachine, active: ConfigurationValues, desired: ConfigurationValues, before: str
) -> None:
    """Raise `Refused` if a machine belongs to another cluster or was changed since the plan."""
    if active.authority != desired.authority:
        why = "the authority of its certificates is not that of this cluster"
        raise Refused(problems.foreign_machine(machine.node, machine.address, why))
    if active.digest != before:
        why = f"the digest of its configuration is {active.digest[:12]}, and was {before[:12]}"
        raise Refused(problems.config_changed_meanwhile(machine.node, machine.address, why))


_RUNNING = "running"


@record
class RebootIntoConfiguration(Action):
    """Stage a configuration, and reboot the machine once.

    The boot id of the plan identifies the boot: a machine that has booted since is not rebooted.
    """

    kind: ClassVar[str] = "talos.reboot-into"
    machine: TalosMachine
    minor: str
    before: str
    """Digest of the current configuration."""
    digest: str
    """Digest of the desired configuration."""
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
        _, desired = await read_planned_config(ports, self.machine.node, self.minor, self.digest)
        talos = ports.to_talos()
        try:
            if await talos.boot_id(self.machine.address) == self.boot_id:
                return False
            status = await talos.machine_status(self.machine.address)
            active = await read_active_config(ports, self.machine, self.minor)
        except READ_ERRORS:
            # A machine that is silent boots: it is waited for, and not booted again.
            return False
        return status.stage == _RUNNING and not changed_paths(active, desired)

    async def run(self, ports: Ports) -> None:
        text, desired = await read_planned_config(ports, self.machine.node, self.minor, self.digest)
        talos, address = ports.to_talos(), self.machine.address
        if await is_same_boot(talos, self.machine, self.boot_id):
            active = await read_active_config(ports, self.machine, self.minor)
            if changed_paths(active, desired):
                refuse_changed_machine(self.machine, active, desired, self.before)
                application = ApplyConfigurationRequest(text=text, mode=ApplyMode.STAGED)
                await talos.apply_configuration(address, application)
            # Whether it boots is seen by its boot id.
            with suppress(Uncertain):
                await talos.reboot(address)
        await self._await_boot(ports, desired)

    async def _await_boot(self, ports: Ports, desired: ConfigurationValues) -> None:
        talos, machine = ports.to_talos(), self.machine
        waiting = MachineWait(ports.clock, machine, self.patience, self.every)
        while True:
            try:
                booted = await talos.boot_id(machine.address) != self.boot_id
                stage = (await talos.machine_status(machine.address)).stage
                why = f"its stage is {stage}" if booted else "it has not booted yet"
            except READ_ERRORS as error:
                booted, stage, why = False, "", error.problem.why
            if booted and stage == _RUNNING:
                break
            await waiting.longer(why)
        if paths := changed_paths(await read_active_config(ports, machine, self.minor), desired):
            why = f"it booted, and its configuration still differs in {paths[0]}"
            raise Refused(problems.config_changed_meanwhile(machine.node, machine.address, why))
