"""What has to hold of machines before something is done to them, or with them."""

from __future__ import annotations

from typing import ClassVar

from stockman.model.record import record
from stockman.steps.base import Gate, GateAnswer, Verdict
from stockman.steps.ports import Ports
from stockman.steps.talos.machine import (
    READ_ERRORS,
    MachineState,
    TalosMachine,
    identity_difference,
    missing_nic,
    probe_machine_patiently,
)
from stockman.talos.records.machines import MachineStatus

ALLOWED_SKEW = 5.0
"""Seconds; Talos itself does not begin etcd on a machine whose clock is further off."""
_RUNNING = "running"
_SERVICES, _EXTENSION = "services", "ext-"
_STAGES_AFTER_BOOT = frozenset({"nodeReady", "staticPods"})
"""What machines lack as long as Kubernetes has no network."""


@record
class MachineIdentity(Gate):
    """What answers at an address is the machine that is meant, by UUID and cards."""

    kind: ClassVar[str] = "talos.identity"
    machine: TalosMachine

    @property
    def summary(self) -> str:
        return f"{self.machine.address} is {self.machine.node}, by its UUID and its cards"

    async def check(self, ports: Ports) -> Verdict:
        talos, machine = ports.to_talos(), self.machine
        look = await probe_machine_patiently(talos, ports.clock, machine.address)
        if look.standing is MachineState.FOREIGN:
            return Verdict(answer=GateAnswer.STOP, because=f"it is of another cluster: {look.why}")
        try:
            if look.standing is MachineState.MAINTENANCE:
                flaw = await identity_difference(talos, machine)
            elif look.standing is MachineState.CONFIGURED:
                flaw = await self._flaw(ports)
            else:
                return Verdict(answer=GateAnswer.WAIT, because=look.why)
        except READ_ERRORS as error:
            return Verdict(answer=GateAnswer.WAIT, because=error.problem.why)
        if flaw:
            return Verdict(answer=GateAnswer.STOP, because=flaw)
        return Verdict(
            answer=GateAnswer.GO, because=f"UUID and {len(machine.macs)} cards are its own"
        )

    async def _flaw(self, ports: Ports) -> str:
        talos, machine = ports.to_talos(), self.machine
        uuid = await talos.system_uuid(machine.address)
        if machine.uuid is not None and uuid != machine.uuid:
            return f"its UUID is {uuid}, and that of {machine.node} is {machine.uuid}"
        return missing_nic(machine, await talos.links(machine.address))


@record
class TimeInSync(Gate):
    """The clock of a machine is synchronized with its time server."""

    kind: ClassVar[str] = "talos.time"
    machine: TalosMachine

    @property
    def summary(self) -> str:
        return f"the clock of {self.machine.node} is synchronized"

    async def check(self, ports: Ports) -> Verdict:
        talos, address = ports.to_talos(), self.machine.address
        try:
            sync = await talos.time_sync(address)
        except READ_ERRORS as error:
            return Verdict(answer=GateAnswer.WAIT, because=error.problem.why)
        if not sync.synced and not sync.disabled:
            return Verdict(answer=GateAnswer.WAIT, because="Talos has not synchronized it yet")
        how = "synchronization is disabled" if sync.disabled else "Talos has synchronized it"
        return Verdict(answer=GateAnswer.GO, because=how)


@record
class MachineRunning(Gate):
    """A machine has booted, and only lacks what needs the pod network."""

    kind: ClassVar[str] = "talos.running"
    machine: TalosMachine

    @property
    def summary(self) -> str:
        return f"{self.machine.node} has booted, and its services run"

    async def check(self, ports: Ports) -> Verdict:
        try:
            status = await ports.to_talos().machine_status(self.machine.address)
        except READ_ERRORS as error:
            return Verdict(answer=GateAnswer.WAIT, because=error.problem.why)
        stopped = _stopped_extensions(status)
        unmet = [
            condition
            for condition in status.unmet
            if condition.name not in _STAGES_AFTER_BOOT
            and not (condition.name == _SERVICES and set(condition.reason.split(", ")) <= stopped)
        ]
        if status.stage != _RUNNING:
            return Verdict(answer=GateAnswer.WAIT, because=f"its stage is {status.stage}")
        if unmet:
            because = ", ".join(f"{condition.name}: {condition.reason}" for condition in unmet)
            return Verdict(answer=GateAnswer.WAIT, because=because)
        because = ", ".join([f"its stage is {status.stage}", *sorted(stopped)])
        return Verdict(answer=GateAnswer.GO, because=because)


def _stopped_extensions(status: MachineStatus) -> frozenset[str]:
    """Return what Talos says of services of extensions, `ext-tailscale not running`.

    They may wait for a configuration that nobody gives them, and nothing else depends on them.
    """
    reasons = (unmet.reason for unmet in status.unmet if unmet.name == _SERVICES)
    texts = (text for reason in reasons for text in reason.split(", "))
    return frozenset(text for text in texts if text.startswith(_EXTENSION))


@record
class ApiAddressHeld(Gate):
    """Exactly one controller has the address of the Kubernetes API."""

    kind: ClassVar[str] = "talos.shared-address"
    controllers: tuple[TalosMachine, ...]
    address: str

    @property
    def summary(self) -> str:
        return f"one controller has {self.address}, the address of the Kubernetes API"

    async def check(self, ports: Ports) -> Verdict:
        talos = ports.to_talos()
        holders, why = [], ""
        for machine in self.controllers:
            try:
                addresses = await talos.addresses(machine.address)
            except READ_ERRORS as error:
                why = f"; {machine.node}: {error.problem.why}"
                continue
            if any(address.address.partition("/")[0] == self.address for address in addresses):
                holders.append(machine.node)
        if len(holders) == 1:
            return Verdict(answer=GateAnswer.GO, because=f"{holders[0]} has it")
        has = " and ".join(holders) if holders else "nobody"
        return Verdict(answer=GateAnswer.WAIT, because=f"{has} has it{why}")
