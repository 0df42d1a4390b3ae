"""Identities of guests (VMID, name and UUID), and finding a guest by its identity."""

from __future__ import annotations

from uuid import UUID

from stockman.model.errors import Locked, NotFound, Refused
from stockman.model.names import HostName, Vmid
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.proxmox.client import ProxmoxClient
from stockman.proxmox.cluster import GuestKind
from stockman.proxmox.vms import GuestRef, VmConfig
from stockman.steps.ports import Ports
from stockman.steps.retry import RetryingAction
from stockman.steps.vm import problems

_UNFINISHED = ("create", "clone", "import")


class BlankGuest(Refused):
    """A guest without any value: its host failed during creation, and root has unlocked it.

    Proxmox VE writes all values of a new guest at once, so such a guest is empty.
    """

    def __init__(self, problem: Problem, seen: LocatedGuest) -> None:
        super().__init__(problem)
        self.seen = seen


@record
class GuestIdentity:
    """The identity of a guest, which must match before the guest is changed."""

    cluster: str
    """Name of the Proxmox cluster."""
    vmid: Vmid
    name: str
    uuid: UUID | None = None
    """SMBIOS UUID. None: a container, which has none and is identified by name and mark."""
    kind: GuestKind = "qemu"

    @property
    def touched(self) -> str:
        """Its identity in `Action.touches`."""
        return f"vm/{self.cluster}/{self.vmid}"

    @property
    def label(self) -> str:
        return f"{'VM' if self.kind == 'qemu' else 'container'} {self.vmid} ({self.name})"


@record
class LocatedGuest:
    """A guest and its current host."""

    at: GuestRef
    config: VmConfig

    @property
    def lock(self) -> str:
        """Empty: it is not locked."""
        return self.config.get("lock")


@record
class GuestAction(RetryingAction):
    """An action on one guest."""

    vm: GuestIdentity
    host: HostName
    """Host where the guest is expected; it is also found on another one."""

    @property
    def touches(self) -> tuple[str, ...]:
        return (self.vm.touched,)


async def find_guest(ports: Ports, vm: GuestIdentity, host: HostName) -> LocatedGuest | None:
    """Find a guest, on its expected host first. None: the VMID is free.

    Raises `Refused` if another guest has the VMID, or one that the token cannot see; `BlankGuest`
    if it has no values; `Locked` during its creation, because it has no name and UUID until then.
    """
    pve = ports.on(vm.cluster)
    seen = await _find_on_host(pve, vm, host)
    if seen is None:
        # No guest of the whole cluster has a number that is free, also none that is hidden.
        if await pve.is_vmid_free(vm.vmid):
            return None
        for guest in (await pve.resources()).guests:
            if guest.vmid == vm.vmid and seen is None:
                seen = await _read_guest(
                    pve, GuestRef(host=guest.host, vmid=guest.vmid, kind=guest.kind)
                )
    if seen is None:
        raise Refused(problems.guest_not_visible(vm.cluster, vm.vmid, vm.name))
    if is_unfinished(seen.config):
        raise Locked(problems.creation_in_progress(vm.kind, vm.vmid, vm.name, seen.at.host))
    if is_blank(seen.config):
        raise BlankGuest(problems.blank_guest(vm.vmid, vm.name, seen.at.host), seen)
    if not is_same_guest(vm, seen):
        raise Refused(
            problems.guest_identity_mismatch(
                vm.vmid, vm.name, seen.at.host, seen.config.name, seen.config.uuid
            )
        )
    return seen


async def require_guest(ports: Ports, vm: GuestIdentity, host: HostName) -> LocatedGuest:
    """Return the guest; raises `Refused` if it does not exist any more."""
    seen = await find_guest(ports, vm, host)
    if seen is None:
        raise Refused(problems.guest_missing(vm.vmid, vm.name, host))
    return seen


def is_unfinished(config: VmConfig) -> bool:
    """Return whether a guest is being created, so that it has no name and UUID yet."""
    return config.get("lock") in _UNFINISHED and not config.name


def is_blank(config: VmConfig) -> bool:
    """Return whether a guest has no values at all."""
    return not config.values and not config.waiting


def is_same_guest(vm: GuestIdentity, seen: LocatedGuest) -> bool:
    """Return whether a guest has the given identity."""
    return (vm.kind, vm.name, vm.uuid) == (
        seen.at.kind,
        seen.config.name,
        seen.config.uuid if vm.kind == "qemu" else None,
    )


async def _find_on_host(
    pve: ProxmoxClient, vm: GuestIdentity, host: HostName
) -> LocatedGuest | None:
    return await _read_guest(pve, GuestRef(host=host, vmid=vm.vmid, kind=vm.kind))


async def _read_guest(pve: ProxmoxClient, at: GuestRef) -> LocatedGuest | None:
    try:
        return LocatedGuest(at=at, config=await pve.vm_config(at))
    except NotFound:
        return None
