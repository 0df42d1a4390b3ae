"""Waits for machines, with a timeout."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

from stockman.model.errors import Refused, Unreachable
from stockman.model.names import Vmid
from stockman.model.record import record
from stockman.ports.system import Timekeeper
from stockman.proxmox.client import ProxmoxClient
from stockman.proxmox.cluster import GuestSummary
from stockman.proxmox.vms import GuestRef
from stockman.steps.base import Action
from stockman.steps.ports import Ports
from stockman.steps.talos import problems
from stockman.steps.talos.machine import (
    READ_ERRORS,
    MachineProbe,
    MachineState,
    TalosMachine,
    identity_difference,
    probe_machine_patiently,
)
from stockman.talos.api.client import TalosClient

_FIRST = 1.0
"""Seconds before the second probe, which is short for fast machines."""


class MachineWait:
    """Waits between probes of a machine; the interval grows up to a limit."""

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
        """Seconds since the first probe."""
        return (self._clock.now() - self._since).total_seconds()

    async def longer(self, why: str) -> None:
        """Wait before the next probe; raises `Unreachable` after the timeout."""
        if self.waited >= self._patience:
            machine = self._machine
            raise Unreachable(
                problems.machine_timeout(machine.node, machine.address, self.waited, why)
            )
        await self._clock.sleep(self._pause)
        self._pause = min(self._pause * 2, self._every)


TALOS_API_PORT = 50000
"""Port of the Talos API, also in maintenance mode."""
_VM_RUNNING, _VM_STOPPED = "running", "stopped"


@record
class MachineVm:
    """The VM of a machine."""

    cluster: str
    """Name of the Proxmox cluster."""
    vmid: Vmid


async def is_stopped(ports: Ports, vm: MachineVm | None) -> bool:
    """Return whether a VM is stopped; False if that is unknown."""
    if vm is None or vm.cluster not in ports.proxmox:
        return False
    pve = ports.on(vm.cluster)
    try:
        guest = next(
            (summary for summary in (await pve.resources()).guests if summary.vmid == vm.vmid), None
        )
        if guest is None:
            return False
        at = GuestRef(host=guest.host, vmid=vm.vmid, kind="qemu")
        return (await pve.vm_status(at)).status == _VM_STOPPED
    except READ_ERRORS:
        return False


@record
class _VmReport:
    """The state of a VM in Proxmox VE."""

    observations: tuple[str, ...] = ()
    may_run: bool = True


async def machine_absence(
    ports: Ports, machine: TalosMachine, vm: MachineVm | None, look: MachineProbe, waited: float
) -> Refused:
    """Return the error for a machine that did not come up in time."""
    seen = await _read_vm_report(ports, vm)
    observations = (_probe_text(machine, look), *seen.observations)
    fix = problems.FIX_CHECK_CONSOLE if seen.may_run else problems.FIX_START_VM
    return Refused(
        problems.machine_absent(machine.node, str(machine.address), waited, observations, fix)
    )


def _probe_text(machine: TalosMachine, look: MachineProbe) -> str:
    at = f"{machine.address}:{TALOS_API_PORT}"
    reason = f" ({look.why})" if look.why else ""
    match look.standing:
        case MachineState.MAINTENANCE:
            return f"it waits for its configuration on {at}, and is gone again soon after"
        case MachineState.BOOTING:
            return f"something answers on {at}, and not yet as a machine of Talos{reason}"
    return f"nobody answers on {at}{reason}"


async def _read_vm_report(ports: Ports, vm: MachineVm | None) -> _VmReport:
    if vm is None or vm.cluster not in ports.proxmox:
        return _VmReport()
    pve = ports.on(vm.cluster)
    try:
        guests = (await pve.resources()).guests
        guest = next((summary for summary in guests if summary.vmid == vm.vmid), None)
        if guest is None:
            return _VmReport(observations=(f"Proxmox VE has no VM {vm.vmid}",), may_run=False)
        status = await pve.vm_status(GuestRef(host=guest.host, vmid=vm.vmid, kind="qemu"))
    except READ_ERRORS as error:
        why = f"{error.problem.what}: {error.problem.why}"
        return _VmReport(observations=(f"nobody could tell how VM {vm.vmid} is ({why})",))
    if status.status != _VM_RUNNING:
        return _VmReport(
            observations=(f"VM {vm.vmid} is {status.status} on {guest.host}",), may_run=False
        )
    agent = (
        await _agent_text(pve, guest)
        if status.has_agent
        else "it has no agent that could tell more"
    )
    return _VmReport(observations=(f"VM {vm.vmid} runs on {guest.host}", agent))


async def _agent_text(pve: ProxmoxClient, guest: GuestSummary) -> str:
    at = GuestRef(host=guest.host, vmid=guest.vmid, kind="qemu")
    try:
        if not await pve.agent_answers(at):
            return "no agent answers inside of it"
        cards = await pve.agent_interfaces(at)
    except READ_ERRORS as error:
        return f"its agent cannot be asked ({error.problem.what})"
    has = [str(address.address) for card in cards for address in card.addresses]
    return f"its agent says that it has {', '.join(has) or 'no address'}"


@record
class AwaitMachine(Action):
    """Wait until a machine is in maintenance mode, or configured, and answers reliably.

    Machines answer once and disappear again while their network starts: only several consecutive
    answers count.
    """

    kind: ClassVar[str] = "talos.await"
    machine: TalosMachine
    looks: int = 3
    """Number of consecutive answers."""
    every: float = 5.0
    """Seconds between two probes."""
    patience: float = 1200.0
    """Seconds."""
    vm: MachineVm | None = None
    """The VM, whose state is reported if the machine does not come up. None: unknown."""

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
            look = await self._probe(ports)
            if look.standing is MachineState.CONFIGURED:
                return True
            if look.standing is not MachineState.MAINTENANCE:
                return False
        return True

    async def run(self, ports: Ports) -> None:
        waiting = MachineWait(ports.clock, self.machine, self.patience, self.every)
        answers = 0
        while True:
            look = await self._probe(ports)
            answers = answers + 1 if look.standing is MachineState.MAINTENANCE else 0
            if look.standing is MachineState.CONFIGURED or answers >= self.looks:
                return
            if waiting.waited >= self.patience:
                raise await machine_absence(ports, self.machine, self.vm, look, waiting.waited)
            await waiting.longer(look.why)

    async def _probe(self, ports: Ports) -> MachineProbe:
        talos = ports.to_talos()
        look = await probe_machine_patiently(talos, ports.clock, self.machine.address)
        if look.standing is MachineState.FOREIGN:
            node, address = self.machine.node, self.machine.address
            raise Refused(problems.foreign_machine(node, address, look.why))
        if look.standing is MachineState.MAINTENANCE:
            return await self._check_identity(talos)
        return look

    async def _check_identity(self, talos: TalosClient) -> MachineProbe:
        try:
            flaw = await identity_difference(talos, self.machine)
        except READ_ERRORS as error:
            return MachineProbe(standing=MachineState.SILENT, why=error.problem.why)
        if flaw:
            node, address = self.machine.node, self.machine.address
            raise Refused(problems.machine_identity_mismatch(node, address, flaw))
        return MachineProbe(standing=MachineState.MAINTENANCE)
