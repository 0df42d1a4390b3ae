"""Disks of guests: grown, and attached where they outlive their VM."""

from __future__ import annotations

from typing import ClassVar

from stockman.model.names import Datastore, Vmid
from stockman.model.proxmox_values import Drive, parse_properties
from stockman.model.record import record
from stockman.proxmox.guest_values import data_disk, new_volume
from stockman.proxmox.storages import NewVolume
from stockman.proxmox.vms import GuestRef, VmConfig, VmUpdate
from stockman.steps.ports import Ports
from stockman.steps.vm.identity import GuestAction, GuestIdentity, LocatedGuest, require_guest
from stockman.steps.vm.values import key_family

GIB = 1 << 30
KEEPER = Vmid(999_999_998)
"""Owner of disks that outlive their VM: a number that no guest has. Proxmox VE deletes with a
guest only the disks that carry its own number."""
BUSES = ("scsi", "virtio", "sata", "ide")


@record
class GrowDisk(GuestAction):
    """Make a disk larger; it is never made smaller."""

    kind: ClassVar[str] = "vm.grow-disk"
    disk: str
    """Its slot, `scsi0` or `rootfs`."""
    gib: int

    @property
    def summary(self) -> str:
        return f"grow {self.disk} of {self.vm.label} to {self.gib} GiB"

    async def done(self, ports: Ports) -> bool:
        seen = await require_guest(ports, self.vm, self.host)
        return disk_size(seen.config, self.disk) >= self.gib * GIB

    async def attempt(self, ports: Ports) -> None:
        seen = await require_guest(ports, self.vm, self.host)
        if disk_size(seen.config, self.disk) >= self.gib * GIB:
            return
        pve = ports.on(self.vm.cluster)
        seen = await recover_keeper_disk(ports, self.vm, seen, self.disk)
        await pve.wait_task(await pve.resize_disk(seen.at, self.disk, f"{self.gib}G"))


@record
class AttachDisk(GuestAction):
    """Give a VM a data disk, found again by its serial number."""

    kind: ClassVar[str] = "vm.attach-disk"
    name: str
    """Name of the disk, and its serial number inside of the VM."""
    slot: str
    """Where it is plugged in, `scsi1`."""
    storage: Datastore
    gib: int
    volume: str = ""
    """Name of a volume that outlives the VM. Empty: the disk belongs to the VM and dies with it."""
    options: str = ""
    """Further options, `discard=on,ssd=1`."""

    @property
    def summary(self) -> str:
        return f"attach disk {self.name} ({self.gib} GiB, {self.storage}) to {self.vm.label}"

    async def done(self, ports: Ports) -> bool:
        seen = await require_guest(ports, self.vm, self.host)
        return disk_slot(seen.config, self.name) is not None

    async def attempt(self, ports: Ports) -> None:
        pve = ports.on(self.vm.cluster)
        seen = await require_guest(ports, self.vm, self.host)
        if disk_slot(seen.config, self.name) is not None:
            return
        source = (
            await self._find_or_create_volume(ports, seen.at)
            if self.volume
            else new_volume(self.storage, self.gib)
        )
        value = data_disk(source, self.name, self.options)
        change = VmUpdate(values={self.slot: value}, digest=seen.config.digest)
        await ports.permit()
        await pve.wait_task(await pve.update_vm(seen.at, change))

    async def _find_or_create_volume(self, ports: Ports, at: GuestRef) -> str:
        """Return the volume that is kept when the VM is deleted: an existing or a new one."""
        pve = ports.on(self.vm.cluster)
        for volume in await pve.volumes(at.host, self.storage, vmid=KEEPER):
            if volume.id.rsplit("/", 1)[-1].rsplit(":", 1)[-1] == self.volume:
                return volume.id
        new = NewVolume(
            vmid=KEEPER,
            name=self.volume,
            size=self.gib * GIB,
            format="raw" if self.volume.endswith(".raw") else None,
        )
        return await pve.allocate_volume(at.host, self.storage, new)


@record
class DetachDisk(GuestAction):
    """Detach a data disk from a VM; its content is kept."""

    kind: ClassVar[str] = "vm.detach-disk"
    name: str

    @property
    def summary(self) -> str:
        return f"detach disk {self.name} from {self.vm.label}; what is on it stays"

    async def done(self, ports: Ports) -> bool:
        seen = await require_guest(ports, self.vm, self.host)
        return disk_slot(seen.config, self.name) is None

    async def attempt(self, ports: Ports) -> None:
        seen = await require_guest(ports, self.vm, self.host)
        slot = disk_slot(seen.config, self.name)
        if slot is not None:
            await ports.on(self.vm.cluster).unlink_disks(seen.at, (slot,))


async def recover_keeper_disk(
    ports: Ports, vm: GuestIdentity, seen: LocatedGuest, slot: str
) -> LocatedGuest:
    """Return a VM after applying a pending disk, which a failed host did not attach.

    Any change of the configuration applies pending changes.
    """
    pve = ports.on(vm.cluster)
    waiting = await pve.vm_pending(seen.at) if vm.kind == "qemu" else ()
    if not any(entry.key == slot and entry.value is None and entry.pending for entry in waiting):
        return seen
    await pve.wait_task(await pve.update_vm(seen.at, VmUpdate(values={"name": vm.name})))
    return await require_guest(ports, vm, seen.at.host)


def drives(config: VmConfig) -> dict[str, Drive]:
    """Return the disks and CD drives of a VM by slot, without those that cannot be parsed."""
    by_slot: dict[str, Drive] = {}
    for key, value in config.values.items():
        bus = key.rstrip("0123456789")
        if key == bus or (bus not in BUSES and bus not in ("efidisk", "tpmstate", "unused", "mp")):
            continue
        try:
            by_slot[key] = Drive.parse(value)
        except ValueError:
            continue
    return by_slot


def disk_slot(config: VmConfig, name: str) -> str | None:
    """Return the slot of a disk by its name. None: it is not attached."""
    for slot, drive in drives(config).items():
        if drive.options.get("serial") == name:
            return slot
    return None


def disk_size(config: VmConfig, slot: str) -> int:
    """Return the size of a disk in bytes. 0: unknown."""
    if slot not in config:
        return 0
    try:
        return Drive.parse(config.get(slot)).size or 0
    except ValueError:
        return 0


_FAMILY = "mp"


@record
class AttachMount(GuestAction):
    """Add a mount point to a container, unless its path is in use."""

    kind: ClassVar[str] = "vm.attach-mount"
    path: str
    """Path in the container."""
    slot: str
    """The key of the mount point, `mp0`."""
    value: str
    """`local-zfs:100,mp=/media`: a new volume with its size in GiB, or an existing one."""

    @property
    def summary(self) -> str:
        source = parse_properties(self.value, default="volume").get("volume", "")
        return f"mount {source} at {self.path} of {self.vm.label}"

    async def done(self, ports: Ports) -> bool:
        seen = await require_guest(ports, self.vm, self.host)
        return self.path in mounts_by_path(seen.config)

    async def attempt(self, ports: Ports) -> None:
        seen = await require_guest(ports, self.vm, self.host)
        if self.path in mounts_by_path(seen.config):
            return
        pve = ports.on(self.vm.cluster)
        change = VmUpdate(values={self.slot: self.value}, digest=seen.config.digest)
        await pve.wait_task(await pve.update_vm(seen.at, change))


def mounts_by_path(config: VmConfig) -> dict[str, str]:
    """Return the slots of mount points by path, without those that cannot be parsed."""
    slots: dict[str, str] = {}
    for key, value in config.values.items():
        if key_family(key) != _FAMILY or key == _FAMILY:
            continue
        try:
            path = parse_properties(value, default="volume").get("mp", "")
        except ValueError:
            continue
        if path:
            slots[path] = key
    return slots
