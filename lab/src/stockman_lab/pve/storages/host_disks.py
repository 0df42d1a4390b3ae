"""Disks of a host: which there are, and what they are used for."""

from __future__ import annotations

from stockman_lab.pve.errors import die
from stockman_lab.pve.host import Host, PhysicalDisk

_FLASH = frozenset({"ssd", "nvme"})


def disk_at(host: Host, path: str) -> PhysicalDisk:
    """The disk at a path of a host."""
    for disk in host.disks:
        if disk.devpath == path:
            return disk
    raise die("not a valid block device")


def unused_disk(host: Host, path: str) -> PhysicalDisk:
    """A disk that nobody uses."""
    disk = disk_at(host, path)
    if disk.used:
        raise die(f"device '{path}' is already in use")
    return disk


def disk_row(disk: PhysicalDisk, *, skip_health: bool) -> dict[str, object]:
    """A disk as lists show it."""
    row: dict[str, object] = {
        "devpath": disk.devpath,
        "size": disk.size,
        "vendor": disk.vendor,
        "model": disk.model or "unknown",
        "serial": disk.serial or "unknown",
        "wwn": disk.wwn or "unknown",
        "type": "nvme" if "nvme" in disk.devpath else disk.kind,
        "rpm": disk.rpm,
        "gpt": int(disk.gpt or bool(disk.used)),
        "mounted": int(is_mounted(disk)),
        "health": "UNKNOWN" if skip_health else disk.health,
        "wearout": 100 if disk.kind in _FLASH and not skip_health else "N/A",
        "osdid": -1,
        "osdid-list": [],
    }
    if disk.serial:
        name = f"{disk.model}_{disk.serial}".replace(" ", "_")
        row["by_id_link"] = f"/dev/disk/by-id/ata-{name}"
    if disk.used:
        row["used"] = disk.used
    return row


def is_mounted(disk: PhysicalDisk) -> bool:
    """Whether a file system of it is in use."""
    return disk.used in ("mounted", "ext4", "xfs", "BIOS boot", "EFI")
