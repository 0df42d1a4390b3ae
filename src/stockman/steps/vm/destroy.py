"""Deletes guests, after checks of their identity and protection."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import ClassVar

from stockman.model.errors import NotFound, Refused
from stockman.model.names import Vmid
from stockman.model.proxmox_values import parse_flag
from stockman.model.record import record
from stockman.proxmox.vms import VmConfig
from stockman.steps.ports import Ports
from stockman.steps.vm import problems
from stockman.steps.vm.disks import drives
from stockman.steps.vm.identity import GuestAction, GuestIdentity, LocatedGuest, find_guest
from stockman.steps.vm.ownership import GuestOwner, Ownership, ownership_of
from stockman.steps.vm.power import STOPPED, wait_for_status


@record
class GuestDeletion(GuestAction):
    """Delete a guest; done if its VMID is free.

    The mark of the guest must prove that it is this guest of this cluster.
    """

    owner: GuestOwner
    """The cluster that the guest must belong to."""

    async def done(self, ports: Ports) -> bool:
        return await find_guest(ports, self.vm, self.host) is None

    async def attempt(self, ports: Ports) -> None:
        seen = await find_guest(ports, self.vm, self.host)
        if seen is None:
            return
        ownership = ownership_of(self.owner, self.vm, seen.config)
        if ownership is not Ownership.OURS:
            raise Refused(problems.unproven_guest(self.vm.vmid, self.vm.name, ownership.value))
        if parse_flag(seen.config.get("protection", "0")):
            raise Refused(problems.guest_protection(self.vm.vmid, self.vm.name))
        await self.prepare(ports, seen)
        pve = ports.on(self.vm.cluster)
        try:
            await pve.wait_task(await pve.delete_vm(seen.at))
        except NotFound:
            return

    @abstractmethod
    async def prepare(self, ports: Ports, seen: LocatedGuest) -> None:
        """Prepare the guest for deletion; raises `Refused` if data would be lost."""


_OWNED_SLOTS = ("scsi0", "efidisk0", "tpmstate0", "rootfs")


@record
class DestroyVm(GuestDeletion):
    """Power off a guest and delete it with its system disk."""

    kind: ClassVar[str] = "vm.destroy"
    scratch: tuple[str, ...] = ()
    """Serial numbers of data disks that are deleted with it."""

    @property
    def summary(self) -> str:
        return f"destroy {self.vm.label} on {self.host}"

    @property
    def destroys(self) -> str:
        more = f" and its disks {', '.join(self.scratch)}" if self.scratch else ""
        return f"{self.vm.label} on {self.host} with its system disk{more}"

    async def prepare(self, ports: Ports, seen: LocatedGuest) -> None:
        if lost := tuple(disks_lost_with(seen.config, self.vm.vmid, self.scratch)):
            raise Refused(problems.data_disks(self.vm.vmid, self.vm.name, lost))
        pve = ports.on(self.vm.cluster)
        status = await pve.vm_status(seen.at)
        if status.ha_managed:
            await _remove_from_ha(ports, self.vm)
        if status.status != STOPPED:
            await pve.wait_task(await pve.stop_vm(seen.at))
            await wait_for_status(ports, self.vm, self.host, STOPPED)
        await ports.permit()


def disks_lost_with(config: VmConfig, vmid: Vmid, scratch: tuple[str, ...]) -> Iterator[str]:
    """Return data disks that Proxmox VE would delete with a guest."""
    for slot, drive in drives(config).items():
        volume = drive.volume
        if drive.is_cdrom or volume is None or volume.owner != vmid:
            continue
        # A file in the directory of the guest is deleted too, also if somebody copied it there.
        if slot in _OWNED_SLOTS and volume.named_owner == vmid:
            continue
        if drive.options.get("serial") not in scratch:
            yield f"{slot} ({volume})"


async def _remove_from_ha(ports: Ports, vm: GuestIdentity) -> None:
    """High availability would switch it on again."""
    prefix = "vm" if vm.kind == "qemu" else "ct"
    try:
        await ports.on(vm.cluster).remove_ha_resource(f"{prefix}:{vm.vmid}")
    except NotFound:
        return
