"""Disks of a guest: grown, and put into their slots."""

from __future__ import annotations

from stockman.model.names import HostName
from stockman.planning.observed_proxmox import ObservedProxmox
from stockman.planning.proxmox_change import storage_lane
from stockman.planning.vm_keys import disk_options
from stockman.planning.vm_wanted import GuestWish
from stockman.steps.step import Stage, Step
from stockman.steps.vm_disks import KEEPER, AttachDisk, GrowDisk

_FILES = ("dir", "nfs", "cifs", "btrfs")


def growth(wish: GuestWish, slot: str, gib: int, needs: tuple[str, ...], host: HostName) -> Step:
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


def disk_attachment(
    seen: ObservedProxmox, wish: GuestWish, number: int, slot: str, needs: tuple[str, ...]
) -> Step:
    """A data disk is made, or found again, and put into its slot."""
    disk = wish.disks[number - 1]
    place = disk.datastore or wish.datastore
    volume = ""
    if disk.keep:
        there = seen.storage(wish.host, place)
        ending = ".raw" if there is not None and there.kind in _FILES else ""
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
        lanes=(lane_of(seen, wish, place),),
        node=wish.who.name,
    )


def lane_of(seen: ObservedProxmox, wish: GuestWish, storage: str) -> str:
    """Where everything waits that writes to a storage of its host."""
    there = seen.storage(wish.host, storage)
    shared = there is not None and there.shared
    return storage_lane(wish.who.cluster, storage, wish.host, shared=shared)
