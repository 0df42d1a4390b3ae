"""Disks as a machine calls them, and which one is meant."""

from __future__ import annotations

import re

from stockman_lab.guest.view import DiskView, GuestView

_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def names(view: GuestView) -> dict[str, str]:
    """Names of disks by slot, `sda`, in the order that the kernel finds them."""
    found: dict[str, str] = {}
    scsi = [one for one in view.disks if one.slot.startswith(("scsi", "sata"))]
    for number, disk in enumerate([one for one in scsi if not one.is_cdrom]):
        found[disk.slot] = f"sd{_LETTERS[number % 26]}"
    virtio = [one for one in view.disks if one.slot.startswith("virtio")]
    for number, disk in enumerate(virtio):
        found[disk.slot] = f"vd{_LETTERS[number % 26]}"
    drives = [one for one in view.disks if one.slot not in found]
    for number, disk in enumerate(drives):
        found[disk.slot] = f"sr{number}"
    return found


def device_of(view: GuestView, slot: str) -> str:
    """The path of a disk. Empty: there is none in the slot."""
    name = names(view).get(slot, "")
    return f"/dev/{name}" if name else ""


def symlinks_of(disk: DiskView) -> list[str]:
    """Other paths that lead to a disk."""
    if disk.slot.startswith("virtio"):
        return [f"/dev/disk/by-id/virtio-{disk.serial}"] if disk.serial else []
    bus, number = re.sub(r"\d", "", disk.slot), re.sub(r"\D", "", disk.slot)
    serial = disk.serial or f"drive-{bus}{number}"
    return [f"/dev/disk/by-id/scsi-0QEMU_QEMU_HARDDISK_{serial}"]


def disk_at(view: GuestView, path: str) -> DiskView | None:
    """The disk that a path leads to. None: none does."""
    for slot, name in names(view).items():
        disk = view.disk(slot)
        if disk is not None and path in (f"/dev/{name}", name, *symlinks_of(disk)):
            return disk
    return None
