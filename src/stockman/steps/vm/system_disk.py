"""Imports the system disk of a VM from an image, which is slow, and grows it.

Proxmox VE locks a VM during its creation, and only root can unlock it if its host fails. An
existing VM is not locked while a disk is imported, so the import can be interrupted and repeated.
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
"""Timeout of an import in seconds."""
_STARTED_BEFORE = ("parent", "vmstate", "template")
"""Keys of a VM that was in use: it has snapshots, was hibernated, or is a template."""


@record
class ImportedDisk:
    """A disk that is imported from an image."""

    slot: str
    """Its slot, `scsi0`."""
    storage: Datastore
    source: str
    """Volume of the image, or of a disk of another VM."""
    options: str = ""
    """Further options, `discard=on,ssd=1`."""
    gib: int = 0
    """Desired size. 0: the size of the image."""

    @property
    def value(self) -> str:
        """The value for Proxmox VE."""
        return imported_disk(self.storage, self.source, self.options)

    def is_in(self, config: VmConfig) -> bool:
        """Return whether a VM has the disk with its desired size."""
        return self.slot in config and disk_size(config, self.slot) >= self.gib * GIB


@record
class CreationState:
    """The progress of a creation."""

    disk: ImportedDisk
    late: Mapping[str, str]
    """Values that are set together with the disk."""
    is_new: bool
    """Whether this run created the VM, so there is no earlier attempt."""

    def missing(self, config: VmConfig) -> dict[str, str]:
        """Return the values that a VM still lacks, regardless of the size of its disk."""
        desired = {} if self.disk.slot in config else {self.disk.slot: self.disk.value}
        late = self.late.items()
        return desired | {
            k: value for k, value in late if not same_value(k, value, config.values.get(k))
        }


def has_no_disk(config: VmConfig) -> bool:
    """Return whether a VM has no disk: its creation was interrupted."""
    has_disk = any(
        key_family(slot) == "unused" or (key_family(slot) in BUSES and not drive.is_cdrom)
        for slot, drive in drives(config).items()
    )
    return not has_disk and not any(key in config for key in _STARTED_BEFORE)


async def import_system_disk(
    ports: Ports, vm: GuestIdentity, host: HostName, creation: CreationState
) -> None:
    """Import the disk of a VM, and continue an earlier attempt."""
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
    """Update a VM, unless it was changed concurrently."""
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
    """Grow a new disk; the disk of a large image may be large enough."""
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
    """Power off a VM that was started before it had a disk."""
    pve = ports.on(vm.cluster)
    if has_no_disk(seen.config) and (await pve.vm_status(seen.at)).status != STOPPED:
        await pve.wait_task(await pve.stop_vm(seen.at))
        await wait_for_status(ports, vm, seen.at.host, STOPPED)


async def _delete_stale_copies(
    ports: Ports, vm: GuestIdentity, seen: LocatedGuest, disk: ImportedDisk
) -> None:
    """Delete copies of interrupted imports.

    They belong to the VM: no volume had its VMID before its creation (`VmidFreeOrOwned`), it never
    ran, and it does not refer to them. No import is still running, because the VM has its disk.
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
    """Return whether a volume is a disk with the VMID of a VM."""
    return volume.content == "images" and volume.vmid == vm.vmid
