"""Disks of a guest: grown, and put into their slots."""

from __future__ import annotations

import re

from stockman.model.guest import MountPoint
from stockman.model.names import HostName
from stockman.model.problem import Problems
from stockman.model.proxmox_values import Drive
from stockman.planning.change import storage_lane
from stockman.planning.observed.proxmox import ObservedProxmox
from stockman.planning.vm import problems as say
from stockman.planning.vm.desired import DesiredGuest
from stockman.planning.vm.keys import disk_options, mount_value
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
    wish: DesiredGuest, slot: str, gib: int, needs: tuple[str, ...], host: HostName
) -> Step:
    """A disk of a guest becomes larger."""
    return Step(
        id=f"vms/grow/{wish.who.name}/{slot}",
        action=GrowDisk(vm=wish.who, host=host, disk=slot, gib=gib),
        stage=Stage.VMS,
        reason=f"{gib} GiB are asked for",
        needs=needs,
        node=wish.who.name,
        seconds=2.0,
    )


def attach_disk_step(
    seen: ObservedProxmox, wish: DesiredGuest, number: int, slot: str, needs: tuple[str, ...]
) -> Step:
    """A data disk is made, or found again, and put into its slot."""
    disk = wish.disks[number - 1]
    place = disk.datastore or wish.datastore
    volume = ""
    if disk.keep:
        there = seen.storage(wish.host, place)
        ending = ".raw" if there is not None and there.kind in _FILE_STORAGE_TYPES else ""
        volume = f"vm-{KEEPER}-{wish.owner}-{wish.who.name}-{disk.name}{ending}"
    return Step(
        id=f"vms/disk/{wish.who.name}/{disk.name}",
        action=AttachDisk(
            vm=wish.who,
            host=wish.host,
            name=disk.name,
            slot=slot,
            storage=place,
            gib=disk.size_gb,
            volume=volume,
            options=disk_options(disk),
        ),
        stage=Stage.VMS,
        reason=f"{wish.who.name} has no disk {disk.name}",
        needs=needs,
        lanes=(write_lane(seen, wish, place),),
        node=wish.who.name,
    )


def write_lane(seen: ObservedProxmox, wish: DesiredGuest, storage: str) -> str:
    """Where everything waits that writes to a storage of its host."""
    there = seen.storage(wish.host, storage)
    shared = there is not None and there.shared
    return storage_lane(wish.who.cluster, storage, wish.host, shared=shared)


_NEW_VOLUME = re.compile(r"([^:/]+):(\d+)")
"""A volume that is made: a storage, and GiB."""
_SLOTS = 256


def find_missing_mounts(wish: DesiredGuest, config: VmConfig) -> dict[str, str]:
    """Slots for mounts that a container does not have, by path."""
    there = mounts_by_path(config)
    free = (f"mp{number}" for number in range(_SLOTS) if f"mp{number}" not in config)
    return dict(zip((one.path for one in wish.mounts if one.path not in there), free, strict=False))


def mounts_to_grow(wish: DesiredGuest, config: VmConfig) -> dict[str, int]:
    """GiB by slot of volumes that are smaller than they should be."""
    return {
        slot: gib
        for slot, gib, _ in _mounts_with_size(wish, config)
        if 0 < disk_size(config, slot) < gib * GIB
    }


def attach_mount_action(wish: DesiredGuest, host: str, path: str, slot: str) -> AttachMount:
    """What gives a container one of its mounts."""
    mount = next(one for one in wish.mounts if one.path == path)
    return AttachMount(
        vm=wish.who,
        host=host,  # type: ignore[arg-type]  # hosts are texts
        path=path,
        slot=slot,
        value=mount_value(mount),
    )


def check_mounts(wish: DesiredGuest, config: VmConfig, problems: Problems) -> None:
    """Report what is not done to mounts: they neither shrink nor move, and stay where they are."""
    if wish.who.kind != "lxc":
        return
    there = mounts_by_path(config)
    for mount in wish.mounts:
        if mount.path not in there and mount.source.startswith("/"):
            say.root_only(problems, wish, f"the directory {mount.source} of its host")
    for slot, gib, mount in _mounts_with_size(wish, config):
        found = disk_size(config, slot)
        if found > gib * GIB:
            say.disk_shrinks(problems, wish, mount.path, found, gib)
        volume, storage = _source(config, slot), mount.source.partition(":")[0]
        if ":" in volume and volume.partition(":")[0] != storage:
            say.storage_mismatch(problems, wish, mount.path, volume.partition(":")[0], storage)
    wanted = {mount.path for mount in wish.mounts}
    for path, slot in there.items():
        if path not in wanted:
            say.mount_stays(problems, wish, path, slot, _source(config, slot))


def _mounts_with_size(wish: DesiredGuest, config: VmConfig) -> list[tuple[str, int, MountPoint]]:
    """Mounts that are there and have a size in the configuration."""
    there = mounts_by_path(config)
    return [
        (there[mount.path], int(new[2]), mount)
        for mount in wish.mounts
        if mount.path in there and (new := _NEW_VOLUME.fullmatch(mount.source)) is not None
    ]


def _source(config: VmConfig, slot: str) -> str:
    return Drive.parse(config.get(slot)).source
