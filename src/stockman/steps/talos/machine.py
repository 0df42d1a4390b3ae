"""Who a machine is, and how it answers."""

from __future__ import annotations

from enum import Enum
from uuid import UUID

from stockman.model.errors import (
    Conflict,
    Denied,
    NotFound,
    Refused,
    Rejected,
    StockmanError,
    Uncertain,
    Unreachable,
)
from stockman.model.names import Mac, MachineAddress
from stockman.model.record import record
from stockman.ports.system import Timekeeper
from stockman.steps.talos import problems
from stockman.talos.api.client import TalosClient
from stockman.talos.records.machines import Link, TalosVersion, network_cards
from stockman.talos.records.operations import MaintenanceMachine

READ_ERRORS = (Conflict, Denied, NotFound, Refused, Rejected, Uncertain, Unreachable)
"""How a read may end that tells nothing about what was asked for."""
_TRUST_ERRORS = ("authentication handshake failed", "certificate")
"""Words of those who do not believe whoever answers."""

_FOREIGN_RETRIES, _PAUSE = 3, 5.0


class MachineState(Enum):
    """How a machine stands to us."""

    CONFIGURED = "configured"
    """It has a configuration of our cluster."""
    MAINTENANCE = "maintenance"
    """It waits for its first configuration."""
    FOREIGN = "foreign"
    """It has a configuration, and not one of our cluster."""
    BOOTING = "booting"
    """Something answers, and is not ready to tell what it is."""
    SILENT = "silent"
    """Nobody answers: not the same as that there is no machine."""


@record
class TalosMachine:
    """A machine as a plan means it."""

    node: str
    address: MachineAddress
    uuid: UUID | None = None
    """That of its VM. None: it is not ours to know."""
    macs: tuple[Mac, ...] = ()
    """Cards that it has to have."""
    fingerprint: str = ""
    """Confirmed fingerprint of its certificate in maintenance mode. Empty: not confirmed."""

    @property
    def stranger(self) -> MaintenanceMachine:
        return MaintenanceMachine(address=self.address, fingerprint=self.fingerprint)

    @property
    def touched(self) -> str:
        """Its identity in `Action.touches`."""
        return f"machine/{self.node}"


@record
class MachineProbe:
    """The answer of a machine."""

    standing: MachineState
    why: str = ""
    """The error, if it did not answer."""
    version: TalosVersion | None = None
    """None: it is not a running machine of this cluster."""


async def probe_machine(talos: TalosClient, address: MachineAddress) -> MachineProbe:
    """Return the state of a machine; queries it without a certificate if ours fails."""
    try:
        version = await talos.version(address)
        return MachineProbe(standing=MachineState.CONFIGURED, version=version)
    except READ_ERRORS as error:
        failure = error
    try:
        if await talos.is_in_maintenance(MaintenanceMachine(address=address)):
            return MachineProbe(standing=MachineState.MAINTENANCE)
    except READ_ERRORS:
        return MachineProbe(standing=MachineState.SILENT, why=failure.problem.why)
    if _is_trust_error(failure):
        return MachineProbe(standing=MachineState.FOREIGN, why=failure.problem.why)
    return MachineProbe(standing=MachineState.BOOTING, why=failure.problem.why)


async def probe_machine_patiently(
    talos: TalosClient, clock: Timekeeper, address: MachineAddress
) -> MachineProbe:
    """Return the state of a machine; a machine that seems foreign is queried several times.

    While a machine applies its configuration, it shows another certificate for a moment.
    """
    look = await probe_machine(talos, address)
    for _ in range(_FOREIGN_RETRIES):
        if look.standing is not MachineState.FOREIGN:
            return look
        await clock.sleep(_PAUSE)
        look = await probe_machine(talos, address)
    return look


def _is_trust_error(error: StockmanError) -> bool:
    if isinstance(error, Refused | Denied):
        return True
    return any(text in error.problem.why for text in _TRUST_ERRORS)


async def is_same_boot(talos: TalosClient, machine: TalosMachine, boot_id: str) -> bool:
    """Whether a machine has not booted since; False for a machine that does not answer."""
    try:
        return await talos.boot_id(machine.address) == boot_id
    except READ_ERRORS:
        return False


async def refuse_other_machine(talos: TalosClient, machine: TalosMachine) -> None:
    """Raise `Refused` if the UUID of a machine is not the planned one."""
    if machine.uuid is None:
        return
    uuid = await talos.system_uuid(machine.address)
    if uuid != machine.uuid:
        why = f"its UUID is {uuid}, and that of {machine.node} is {machine.uuid}"
        raise Refused(problems.machine_identity_mismatch(machine.node, machine.address, why))


async def identity_difference(talos: TalosClient, machine: TalosMachine) -> str:
    """Return how the identity of a machine in maintenance mode differs. Empty: it does not."""
    if machine.uuid is not None:
        uuid = await talos.system_uuid(machine.stranger)
        if uuid != machine.uuid:
            return f"its UUID is {uuid}, and that of {machine.node} is {machine.uuid}"
    return missing_nic(machine, await talos.links(machine.stranger))


def missing_nic(machine: TalosMachine, links: tuple[Link, ...]) -> str:
    """Return how the network cards of a machine differ. Empty: they match."""
    macs = {str(link.mac).lower() for link in network_cards(links)}
    missing = [mac for mac in machine.macs if mac.lower() not in macs]
    if not missing:
        return ""
    has = ", ".join(sorted(macs)) or "none at all"
    return f"it has no card {missing[0]}; its cards are {has}"
