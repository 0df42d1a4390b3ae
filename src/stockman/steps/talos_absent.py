"""Why a machine does not come up: what its VM, its agent, its port and the last answer tell."""

from __future__ import annotations

from stockman.model.errors import Refused
from stockman.model.names import Vmid
from stockman.model.record import record
from stockman.ports.proxmox import Proxmox
from stockman.ports.proxmox.cluster import GuestSeen
from stockman.ports.proxmox.vms import GuestRef
from stockman.steps import talos_problems as problems
from stockman.steps.ports import Ports
from stockman.steps.talos_machine import NO_ANSWER, Look, Standing, TalosMachine

PORT = 50000
"""Where machines answer, with and without a configuration."""
_RUNS, _STOPPED = "running", "stopped"


@record
class VmPlace:
    """The VM that a machine runs in."""

    cluster: str
    """Name of the Proxmox cluster."""
    vmid: Vmid


async def is_stopped(ports: Ports, vm: VmPlace | None) -> bool:
    """Whether Proxmox VE says that a VM is stopped; False where it says nothing."""
    if vm is None or vm.cluster not in ports.proxmox:
        return False
    pve = ports.on(vm.cluster)
    try:
        found = next((one for one in (await pve.resources()).guests if one.vmid == vm.vmid), None)
        if found is None:
            return False
        at = GuestRef(host=found.host, vmid=vm.vmid, kind="qemu")
        return (await pve.vm_status(at)).status == _STOPPED
    except NO_ANSWER:
        return False


@record
class _Seen:
    """What Proxmox VE tells of a VM."""

    told: tuple[str, ...] = ()
    may_run: bool = True


async def absence(
    ports: Ports, machine: TalosMachine, vm: VmPlace | None, look: Look, waited: float
) -> Refused:
    """What a run stops with that waited long enough for a machine."""
    seen = await _seen(ports, vm)
    told = (_answered(machine, look), *seen.told)
    fix = problems.LOOK_AT_CONSOLE if seen.may_run else problems.START_IT
    return Refused(problems.absent(machine.node, str(machine.address), waited, told, fix))


def _answered(machine: TalosMachine, look: Look) -> str:
    at = f"{machine.address}:{PORT}"
    said = f" ({look.why})" if look.why else ""
    match look.standing:
        case Standing.MAINTENANCE:
            return f"it waits for its configuration on {at}, and is gone again soon after"
        case Standing.BOOTING:
            return f"something answers on {at}, and not yet as a machine of Talos{said}"
    return f"nobody answers on {at}{said}"


async def _seen(ports: Ports, vm: VmPlace | None) -> _Seen:
    if vm is None or vm.cluster not in ports.proxmox:
        return _Seen()
    pve = ports.on(vm.cluster)
    try:
        guests = (await pve.resources()).guests
        found = next((one for one in guests if one.vmid == vm.vmid), None)
        if found is None:
            return _Seen(told=(f"Proxmox VE has no VM {vm.vmid}",), may_run=False)
        status = await pve.vm_status(GuestRef(host=found.host, vmid=vm.vmid, kind="qemu"))
    except NO_ANSWER as no:
        why = f"{no.problem.what}: {no.problem.why}"
        return _Seen(told=(f"nobody could tell how VM {vm.vmid} is ({why})",))
    if status.status != _RUNS:
        return _Seen(told=(f"VM {vm.vmid} is {status.status} on {found.host}",), may_run=False)
    agent = await _agent(pve, found) if status.has_agent else "it has no agent that could tell more"
    return _Seen(told=(f"VM {vm.vmid} runs on {found.host}", agent))


async def _agent(pve: Proxmox, guest: GuestSeen) -> str:
    at = GuestRef(host=guest.host, vmid=guest.vmid, kind="qemu")
    try:
        if not await pve.agent_answers(at):
            return "no agent answers inside of it"
        cards = await pve.agent_interfaces(at)
    except NO_ANSWER as no:
        return f"its agent cannot be asked ({no.problem.what})"
    has = [str(address.address) for card in cards for address in card.addresses]
    return f"its agent says that it has {', '.join(has) or 'no address'}"
