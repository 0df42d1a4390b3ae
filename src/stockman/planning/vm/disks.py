"""Steps and checks of the disks and mount points of a guest."""

from __future__ import annotations

import re

from stockman.model.guest import MountPoint
from stockman.model.names import HostName
from stockman.model.problem import Problems
from stockman.model.proxmox_values import Drive
from stockman.model.record import require
from stockman.planning.change import storage_lane
from stockman.planning.observed.proxmox import ObservedProxmox
from stockman.planning.vm import problems as report
from stockman.planning.vm.desired import DesiredGuest
from stockman.proxmox.guest_values import disk_options, mount_value
from stockman.proxmox.vms import VmConfig
from stockman.steps.step import Stage, Step
from stockman.steps.vm.disks import (
    GIB,
    KEEPER,
    AttachDisk,
    AttachMount,
    GrowDisk,
    disk_size,
    mounts_by_path,
)

_FILE_STORAGE_TYPES = ("dir", "nfs", "cifs", "btrfs")


def grow_disk_step(
    desired: DesiredGuest, slot: str, gib: int, needs: tuple[str, ...], host: HostName
) -> Step:
    """Return the step that grows a disk."""
    return Step(
        id=f"vms/grow/{desired.identity.name}/{slot}",
        action=GrowDisk(vm=desired.identity, host=host, disk=slot, gib=gib),
        stage=Stage.VMS,
        reason=f"{gib} GiB are configured",
        needs=needs,
        node=desired.identity.name,
        seconds=2.0,
    )


def attach_disk_step(
    observed: ObservedProxmox, desired: DesiredGuest, number: int, slot: str, needs: tuple[str, ...]
) -> Step:
    """Return the step that creates or finds a data disk and attaches it."""
    disk = desired.disks[number - 1]
    storage = require(disk.datastore)
    volume = ""
    if disk.keep:
        summary = observed.storage(desired.host, storage)
        ending = ".raw" if summary is not None and summary.kind in _FILE_STORAGE_TYPES else ""
        volume = f"vm-{KEEPER}-{desired.owner.name}-{desired.identity.name}-{disk.name}{ending}"
    return Step(
        id=f"vms/disk/{desired.identity.name}/{disk.name}",
        action=AttachDisk(
            vm=desired.identity,
            host=desired.host,
            name=disk.name,
            slot=slot,
            storage=storage,
            gib=disk.size_gb,
            volume=volume,
            options=disk_options(disk),
        ),
        stage=Stage.VMS,
        reason=f"{desired.identity.name} has no disk {disk.name}",
        needs=needs,
        lanes=(write_lane(observed, desired, storage),),
        node=desired.identity.name,
    )


def write_lane(observed: ObservedProxmox, desired: DesiredGuest, storage: str) -> str:
    """Return the lane of everything that writes to a storage of the guest's host."""
    summary = observed.storage(desired.host, storage)
    shared = summary is not None and summary.shared
    return storage_lane(desired.identity.cluster, storage, desired.host, shared=shared)


_NEW_VOLUME = re.compile(r"([^:/]+):(\d+)")
"""A volume to create: storage and GiB."""
_SLOTS = 256


def find_missing_mounts(desired: DesiredGuest, config: VmConfig) -> dict[str, str]:
    """Return slots for missing mount points, by path."""
    slots = mounts_by_path(config)
    free = (f"mp{number}" for number in range(_SLOTS) if f"mp{number}" not in config)
    return dict(
        zip((mount.path for mount in desired.mounts if mount.path not in slots), free, strict=False)
    )


def mounts_to_grow(desired: DesiredGuest, config: VmConfig) -> dict[str, int]:
    """Return the new GiB by slot of volumes that are smaller than configured."""
    return {
        slot: gib
        for slot, gib, _ in _mounts_with_size(desired, config)
        if 0 < disk_size(config, slot) < gib * GIB
    }


def attach_mount_action(desired: DesiredGuest, host: str, path: str, slot: str) -> AttachMount:
    """Return the action that adds a mount point to a container."""
    mount = next(mount for mount in desired.mounts if mount.path == path)
    return AttachMount(
        vm=desired.identity,
        host=host,  # type: ignore[arg-type]  # hosts are texts
        path=path,
        slot=slot,
        value=mount_value(mount),
    )


def check_mounts(desired: DesiredGuest, config: VmConfig, problems: Problems) -> None:
    """Report what is not done to mount points: they neither shrink nor move and are not removed."""
    if desired.identity.kind != "lxc":
        return
    slots = mounts_by_path(config)
    for mount in desired.mounts:
        if mount.path not in slots and mount.source.startswith("/"):
            report.root_only(problems, desired, f"host directory {mount.source}")
    for slot, gib, mount in _mounts_with_size(desired, config):
        size = disk_size(config, slot)
        if size > gib * GIB:
            report.disk_shrinks(problems, desired, mount.path, size, gib)
        volume, storage = _source(config, slot), mount.source.partition(":")[0]
        if ":" in volume and volume.partition(":")[0] != storage:
            report.storage_mismatch(
                problems, desired, mount.path, volume.partition(":")[0], storage
            )
    paths = {mount.path for mount in desired.mounts}
    for path, slot in slots.items():
        if path not in paths:
            report.mount_stays(problems, desired, path, slot, _source(config, slot))


def _mounts_with_size(desired: DesiredGuest, config: VmConfig) -> list[tuple[str, int, MountPoint]]:
    """Return existing mount points with a configured size."""
    slots = mounts_by_path(config)
    return [
        (slots[mount.path], int(new[2]), mount)
        for mount in desired.mounts
        if mount.path in slots and (new := _NEW_VOLUME.fullmatch(mount.source)) is not None
    ]


def _source(config: VmConfig, slot: str) -> str:
    return Drive.parse(config.get(slot)).source
