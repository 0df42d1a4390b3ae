"""Disks of a host: which there are, and what they are used for."""

from __future__ import annotations

from stockman_lab.pve.errors import die
from stockman_lab.pve.host import Host, PhysicalDisk
from stockman_lab.pve.workers import Job, Work, register

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


WIPE_DISK = "disk.wipe"


@register
class WipeDisk(Work):
    """Empties `disk`."""

    name = WIPE_DISK

    def begin(self, job: Job) -> float:
        if disk_at(job.cluster.host(job.task.node), job.text("disk")).used == "ZFS":
            why = f"{job.text('disk')}: probing initialization failed: Device or resource busy"
            raise die(f"error wiping '{job.text('disk')}': wipefs: error: {why}")
        return 2.0

    def finish(self, job: Job) -> None:
        disk = disk_at(job.cluster.host(job.task.node), job.text("disk"))
        disk.used, disk.gpt = "", False
        job.log(f"wiping disk/partition: {disk.devpath}")
