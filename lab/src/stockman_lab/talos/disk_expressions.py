"""Disks as expressions of a configuration speak of them."""

from __future__ import annotations

from stockman_lab.guest.view import DiskView, GuestView
from stockman_lab.talos.config.expressions import NotEvaluable, selects
from stockman_lab.talos.config.node_setting import InstallSetting
from stockman_lab.talos.disks import device_of, symlinks_of

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
