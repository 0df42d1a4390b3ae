"""Disks as a machine calls them, and which one is meant."""

from __future__ import annotations

import re

from stockman_lab.guest.view import DiskView, GuestView
from stockman_lab.talos.config.expressions import NotEvaluable, selects
from stockman_lab.talos.config.node_setting import InstallSetting

_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def names(view: GuestView) -> dict[str, str]:
    """Names of disks by slot, `sda`, in the order that the kernel finds them."""
    values: dict[str, str] = {}
    scsi = [one for one in view.disks if one.slot.startswith(("scsi", "sata"))]
    for number, disk in enumerate([one for one in scsi if not one.is_cdrom]):
        values[disk.slot] = f"sd{_LETTERS[number % 26]}"
    virtio = [one for one in view.disks if one.slot.startswith("virtio")]
    for number, disk in enumerate(virtio):
        values[disk.slot] = f"vd{_LETTERS[number % 26]}"
    drives = [one for one in view.disks if one.slot not in values]
    for number, disk in enumerate(drives):
        values[disk.slot] = f"sr{number}"
    return values


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


_SECTOR = 512


def disk_fields(view: GuestView, disk: DiskView) -> dict[str, object]:
    """The fields of a disk by the names of its message."""
    is_virtio = disk.slot.startswith("virtio")
    return {
        "size": disk.size,
        "io_size": _SECTOR,
        "sector_size": _SECTOR,
        "readonly": False,
        "model": "" if is_virtio else "QEMU HARDDISK",
        "serial": disk.serial,
        "modalias": "virtio:d00000002v00001AF4" if is_virtio else "scsi:t-0x00",
        "wwid": "",
        "uuid": "",
        "bus_path": "/virtio" if is_virtio else "/scsi",
        "sub_system": "/sys/class/block",
        "transport": "virtio" if not disk.slot.startswith("sata") else "sata",
        "rotational": False,
        "cdrom": disk.is_cdrom,
        "dev_path": device_of(view, disk.slot),
        "symlinks": symlinks_of(disk),
    }


def fits(view: GuestView, disk: DiskView, expression: str, *, is_system: bool = False) -> bool:
    """Whether an expression means a disk."""
    try:
        return selects(expression, {"disk": disk_fields(view, disk), "system_disk": is_system})
    except NotEvaluable:
        return False


def chosen_disk(view: GuestView, install: InstallSetting) -> DiskView | None:
    """The disk that settings of an installation mean. None: no disk fits."""
    disks = [disk for disk in view.disks if not disk.is_cdrom and disk.size > 0]
    return next((disk for disk in disks if fits(view, disk, install.expression)), None)
