"""The disk that a VM boots from: copied from an image, which takes long, and made large enough.

Proxmox VE keeps a VM locked while it is created, and what a host that dies leaves locked only root
can unlock. A VM that exists is not locked while a disk is copied into it, so that the copying can
be interrupted at any moment and begun anew.
"""

from __future__ import annotations

from collections.abc import Mapping

from stockman.model.errors import Conflict, Locked, Rejected
from stockman.model.names import Datastore, HostName
from stockman.model.record import record
from stockman.proxmox.guest_values import imported_disk
from stockman.proxmox.storages import Volume
from stockman.proxmox.vms import VmConfig, VmUpdate
from stockman.steps.ports import Ports
from stockman.steps.vm.disks import BUSES, GIB, disk_size, drives, recover_keeper_disk
from stockman.steps.vm.identity import GuestIdentity, LocatedGuest, require_guest
from stockman.steps.vm.power import STOPPED, wait_for_status
from stockman.steps.vm.values import key_family, same_value

_LOCK_TIMEOUT = 900.0
"""Seconds for a copy."""
_STARTED_BEFORE = ("parent", "vmstate", "template")
"""Keys of a VM that was used already: it has snapshots, was hibernated, or is a template."""


@record
class ImportedDisk:
    """A disk that is a copy of an image."""

    slot: str
    """Where it is plugged in, `scsi0`."""
    storage: Datastore
    source: str
    """The image, or a disk of another VM."""
    options: str = ""
    """Further options, `discard=on,ssd=1`."""
    gib: int = 0
    """What it grows to. 0: it stays as large as its image."""

    @property
    def value(self) -> str:
        """What Proxmox VE is asked for."""
        return imported_disk(self.storage, self.source, self.options)

    def is_in(self, config: VmConfig) -> bool:
        """Whether a VM has it, as large as it should be."""
        return self.slot in config and disk_size(config, self.slot) >= self.gib * GIB


@record
class CreationState:
    """How far a VM is, and what it still gets."""

    disk: ImportedDisk
    late: Mapping[str, str]
    """Keys that it gets together with its disk."""
    is_new: bool
    """Whether nobody can have tried before, as it was made a moment ago."""

    def missing(self, config: VmConfig) -> dict[str, str]:
        """What a VM does not have yet; how large its disk is does not matter here."""
        desired = {} if self.disk.slot in config else {self.disk.slot: self.disk.value}
        late = self.late.items()
        return desired | {
            k: value for k, value in late if not same_value(k, value, config.values.get(k))
        }


def has_no_disk(config: VmConfig) -> bool:
    """Whether a VM has no disk at all: whoever made it did not come to the end."""
    has_disk = any(
        key_family(slot) == "unused" or (key_family(slot) in BUSES and not drive.is_cdrom)
        for slot, drive in drives(config).items()
    )
    return not has_disk and not any(key in config for key in _STARTED_BEFORE)


async def import_system_disk(
    ports: Ports, vm: GuestIdentity, host: HostName, creation: CreationState
) -> None:
    """Give a VM its disk, and go on where somebody stopped who tried before."""
    disk = creation.disk
    seen = await require_guest(ports, vm, host)
    if not creation.is_new:
        await _power_off(ports, vm, seen)
        seen = await recover_keeper_disk(ports, vm, seen, disk.slot)
    if missing := creation.missing(seen.config):
        await _change(ports, vm, seen, creation, missing)
        if creation.is_new:
            await _grow_new_copy(ports, vm, seen, disk)
            return
        seen = await require_guest(ports, vm, seen.at.host)
    if not creation.is_new:
        await _delete_stale_copies(ports, vm, seen, disk)
    if not disk.is_in(seen.config):
        await _grow(ports, vm, seen, disk)


async def _change(
    ports: Ports,
    vm: GuestIdentity,
    seen: LocatedGuest,
    creation: CreationState,
    values: dict[str, str],
) -> None:
    """Change a VM, unless it was changed: orders for what it was before are refused then."""
    pve = ports.on(vm.cluster)
    await ports.permit()
    try:
        await pve.wait_task(
            await pve.update_vm(seen.at, VmUpdate(values=values, digest=seen.config.digest)),
            _LOCK_TIMEOUT,
        )
    except Locked:
        raise
    except Conflict:
        # An earlier order of ours may have come through after all.
        now = await require_guest(ports, vm, seen.at.host)
        if creation.missing(now.config):
            raise


async def _grow_new_copy(
    ports: Ports, vm: GuestIdentity, seen: LocatedGuest, disk: ImportedDisk
) -> None:
    """Make a copy larger that was made a moment ago; one of a large image is large enough."""
    if not disk.gib:
        return
    try:
        await _grow(ports, vm, seen, disk)
    except Rejected:
        # Proxmox VE makes no disk smaller.
        if not disk.is_in((await require_guest(ports, vm, seen.at.host)).config):
            raise


async def _grow(ports: Ports, vm: GuestIdentity, seen: LocatedGuest, disk: ImportedDisk) -> None:
    pve = ports.on(vm.cluster)
    await ports.permit()
    await pve.wait_task(await pve.resize_disk(seen.at, disk.slot, f"{disk.gib}G"))


async def _power_off(ports: Ports, vm: GuestIdentity, seen: LocatedGuest) -> None:
    """Switch a VM off that somebody switched on before it had a disk: it does nothing."""
    pve = ports.on(vm.cluster)
    if has_no_disk(seen.config) and (await pve.vm_status(seen.at)).status != STOPPED:
        await pve.wait_task(await pve.stop_vm(seen.at))
        await wait_for_status(ports, vm, seen.at.host, STOPPED)


async def _delete_stale_copies(
    ports: Ports, vm: GuestIdentity, seen: LocatedGuest, disk: ImportedDisk
) -> None:
    """Delete copies that nobody lived to finish.

    They are the VM's own: no volume had its number before it was made (`VmidOurs`), it never ran,
    and it refers to none of them. Nobody is still at work on one either, as its disk is there.
    """
    pve = ports.on(vm.cluster)
    if (await pve.vm_status(seen.at)).status != STOPPED:
        return
    if any(key in seen.config for key in _STARTED_BEFORE):
        return
    used = {drive.source for drive in drives(seen.config).values()}
    for volume in await pve.volumes(seen.at.host, disk.storage, vmid=vm.vmid):
        if is_image_of(volume, vm) and volume.id not in used:
            await ports.permit()
            await pve.wait_task(await pve.delete_volume(seen.at.host, volume.id))


def is_image_of(volume: Volume, vm: GuestIdentity) -> bool:
    """Whether a volume carries the number of a VM."""
    return volume.content == "images" and volume.vmid == vm.vmid
