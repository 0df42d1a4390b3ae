"""Disks of virtual machines that grow."""

from __future__ import annotations

from typing import ClassVar

from stockman_lab.pve import space
from stockman_lab.pve.errors import ApiError, die
from stockman_lab.pve.formats.drive import Drive
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.sizes import resized
from stockman_lab.pve.formats.volume_name import storage_of
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.guest_config.state import machine_digest
from stockman_lab.pve.qemu.drives import stored_drive
from stockman_lab.pve.qemu.file_lock import GuestWork, host_of, refuse_locked
from stockman_lab.pve.qemu.power import notice_change, shelf_of
from stockman_lab.pve.qemu.shelf import grown
from stockman_lab.pve.workers import Job, register

_SECONDS = (0.2, 0.9)


@register
class Resize(GuestWork):
    """Makes a disk larger."""

    name: ClassVar[str] = "qemu.resize"

    def check(self, job: Job, guest: Guest) -> float:
        digest = job.text("digest")
        if digest and digest != machine_digest(guest.config):
            raise die("checksum mismatch (file change by other user?)")
        refuse_locked(job.cluster, guest, skip=bool(job.arguments.get("skiplock")))
        self._drive(job, guest)
        return job.cluster.around.dice.between(*_SECONDS)

    def do(self, job: Job, guest: Guest) -> None:
        drive = self._drive(job, guest)
        volume = shelf_of(job.cluster, guest).find(drive.volume)
        if volume is None:
            raise die(f"Could not determine current size of volume '{drive.volume}'")
        try:
            size = resized(volume.size, job.text("size"))
        except FormatError as error:
            raise die(error.message) from None
        if size < volume.size:
            raise die("shrinking disks is not supported")
        if size == volume.size:
            return
        storage = space.configured(job.cluster, volume.storage)
        space.resize(job.cluster, volume, grown(storage, size), host_of(job))
        drive.size = size
        guest.config.values[drive.key] = str(drive)
        notice_change(job.cluster, guest)

    def _drive(self, job: Job, guest: Guest) -> Drive:
        disk = job.text("disk")
        if disk not in guest.config.values:
            raise die(f"disk '{disk}' does not exist")
        drive = stored_drive(disk, guest.config.values[disk])
        if drive.is_cdrom:
            raise die("you can't resize a cdrom")
        if not drive.volume:
            raise die(f"disk '{disk}' has no associated volume")
        if not job.arguments.get("may_grow", True):
            place = f"/storage/{storage_of(drive.volume)}"
            raise ApiError(403, f"Permission check failed ({place}, Datastore.AllocateSpace)")
        return drive
