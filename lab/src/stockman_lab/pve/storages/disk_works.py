"""Work on single disks: wiping, and new partition tables."""

from __future__ import annotations

from stockman_lab.pve.errors import die
from stockman_lab.pve.storages.host_disks import disk_at
from stockman_lab.pve.workers import Job, Work, register

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
