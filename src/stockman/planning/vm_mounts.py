"""Mounts of containers: added, grown, and never taken away."""

from __future__ import annotations

import re

from stockman.model.guest import MountPoint
from stockman.model.problem import Problems
from stockman.model.proxmox_devices import Drive
from stockman.planning import vm_problems as say
from stockman.planning.vm_keys import mount_text
from stockman.planning.vm_wanted import GuestWish
from stockman.ports.proxmox.vms import VmConfig
from stockman.steps.vm_disks import GIB, disk_size
from stockman.steps.vm_mounts import AttachMount, mounted

_NEW = re.compile(r"([^:/]+):(\d+)")
"""A volume that is made: a storage, and GiB."""
_SLOTS = 256


def missing_mounts(wish: GuestWish, config: VmConfig) -> dict[str, str]:
    """Slots for mounts that a container does not have, by path."""
    there = mounted(config)
    free = (f"mp{number}" for number in range(_SLOTS) if f"mp{number}" not in config)
    return dict(zip((one.path for one in wish.mounts if one.path not in there), free, strict=False))


def grown_mounts(wish: GuestWish, config: VmConfig) -> dict[str, int]:
    """GiB by slot of volumes that are smaller than they should be."""
    return {
        slot: gib
        for slot, gib, _ in _sized(wish, config)
        if 0 < disk_size(config, slot) < gib * GIB
    }


def mount_attachment(wish: GuestWish, host: str, path: str, slot: str) -> AttachMount:
    """What gives a container one of its mounts."""
    mount = next(one for one in wish.mounts if one.path == path)
    return AttachMount(
        vm=wish.who,
        host=host,  # type: ignore[arg-type]  # hosts are texts
        path=path,
        slot=slot,
        value=mount_text(mount),
    )


def check_mounts(wish: GuestWish, config: VmConfig, problems: Problems) -> None:
    """Report what is not done to mounts: they neither shrink nor move, and stay where they are."""
    if wish.who.kind != "lxc":
        return
    there = mounted(config)
    for mount in wish.mounts:
        if mount.path not in there and mount.source.startswith("/"):
            say.root_only(problems, wish, f"the directory {mount.source} of its host")
    for slot, gib, mount in _sized(wish, config):
        found = disk_size(config, slot)
        if found > gib * GIB:
            say.shrinks(problems, wish, mount.path, found, gib)
        volume, storage = _source(config, slot), mount.source.partition(":")[0]
        if ":" in volume and volume.partition(":")[0] != storage:
            say.other_storage(problems, wish, mount.path, volume.partition(":")[0], storage)
    wanted = {mount.path for mount in wish.mounts}
    for path, slot in there.items():
        if path not in wanted:
            say.mount_stays(problems, wish, path, slot, _source(config, slot))


def _sized(wish: GuestWish, config: VmConfig) -> list[tuple[str, int, MountPoint]]:
    """Mounts that are there and have a size in the configuration."""
    there = mounted(config)
    return [
        (there[mount.path], int(new[2]), mount)
        for mount in wish.mounts
        if mount.path in there and (new := _NEW.fullmatch(mount.source)) is not None
    ]


def _source(config: VmConfig, slot: str) -> str:
    return Drive.parse(config.get(slot)).source
