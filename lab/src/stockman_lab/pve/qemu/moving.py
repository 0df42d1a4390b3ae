"""Disks of virtual machines that grow, or go to another storage."""

from __future__ import annotations

from typing import ClassVar

from stockman_lab.pve import space
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.errors import ApiError, bad_parameters, die
from stockman_lab.pve.formats.drive import Drive, is_unused
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.sizes import GIB, parse_resize
from stockman_lab.pve.formats.volume_name import storage_of
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.guest_config.pending import add_unused, is_volume_used
from stockman_lab.pve.guest_config.state import machine_digest
from stockman_lab.pve.qemu.cloning import make_bases
from stockman_lab.pve.qemu.drives import parse_stored_drive
from stockman_lab.pve.qemu.file_lock import GuestWork, host_of, refuse_locked
from stockman_lab.pve.qemu.power import notice_change, shelf_of
from stockman_lab.pve.qemu.shelf import Shelf, grown
from stockman_lab.pve.storage import Volume
from stockman_lab.pve.workers import Job, register

_RESIZE_SECONDS = (0.2, 0.9)


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
        return job.cluster.around.dice.between(*_RESIZE_SECONDS)

    def do(self, job: Job, guest: Guest) -> None:
        drive = self._drive(job, guest)
        volume = shelf_of(job.cluster, guest).find(drive.volume)
        if volume is None:
            raise die(f"Could not determine current size of volume '{drive.volume}'")
        try:
            size = parse_resize(volume.size, job.text("size"))
        except FormatError as error:
            raise die(error.message) from None
        if size < volume.size:
            raise die("shrinking disks is not supported")
        if size == volume.size:
            return
        storage = space.find_storage(job.cluster, volume.storage)
        space.resize(job.cluster, volume, grown(storage, size), host_of(job))
        drive.size = size
        guest.config.values[drive.key] = str(drive)
        notice_change(job.cluster, guest)

    def _drive(self, job: Job, guest: Guest) -> Drive:
        disk = job.text("disk")
        if disk not in guest.config.values:
            raise die(f"disk '{disk}' does not exist")
        drive = parse_stored_drive(disk, guest.config.values[disk])
        if drive.is_cdrom:
            raise die("you can't resize a cdrom")
        if not drive.volume:
            raise die(f"disk '{disk}' has no associated volume")
        if not job.arguments.get("may_grow", True):
            place = f"/storage/{storage_of(drive.volume)}"
            raise ApiError(403, f"Permission check failed ({place}, Datastore.AllocateSpace)")
        return drive


_BEFORE, _A_GIB = (0.5, 1.0), (1.0, 6.0)
_MODIFIED = "detected modified configuration - file changed by other user? Try again."


def check_move(cluster: Cluster, guest: Guest, arguments: dict[str, object]) -> Drive:
    """The drive that goes to another storage; refuses one that cannot."""
    disk, storage_id = str(arguments["disk"]), str(arguments["storage"])
    form, digest = str(arguments.get("format", "")), str(arguments.get("digest", ""))
    cluster.refuse_locked(guest)
    if digest and digest != machine_digest(guest.config):
        raise die(_MODIFIED)
    if disk not in guest.config.values:
        raise die(f"disk '{disk}' does not exist")
    drive = parse_stored_drive(disk, guest.config.values[disk])
    if drive.is_plain_cdrom:
        raise die("you can't move a cdrom")
    if not drive.volume:
        raise die(f"disk '{disk}' has no associated volume")
    shelf = shelf_of(cluster, guest)
    old = shelf.name_of(drive.volume).format
    if storage_of(drive.volume) == storage_id and form in ("", old):
        raise die("you can't move to the same storage with same format")
    storage = shelf.storage(storage_id)
    if "images" not in storage.content:
        raise bad_parameters({"storage": f"storage '{storage_id}' does not support vm images"})
    if arguments.get("delete") and is_volume_used(guest.config, drive.volume, but=disk):
        raise die("you can't move a disk with snapshots and delete the source")
    if guest.is_running and disk == "tpmstate0":
        raise die("cannot move TPM state while VM is running")
    return drive


@register
class Move(GuestWork):
    """Copies a disk to another storage, and uses the copy from then on."""

    name: ClassVar[str] = "qemu.move"

    def check(self, job: Job, guest: Guest) -> float:
        drive = check_move(job.cluster, guest, job.arguments)
        dice = job.cluster.around.dice
        return dice.between(*_BEFORE) + drive.size / GIB * dice.between(*_A_GIB)

    def do(self, job: Job, guest: Guest) -> None:
        drive = parse_stored_drive(job.text("disk"), guest.config.values[job.text("disk")])
        old, target = drive.volume, job.text("storage")
        shelf = shelf_of(job.cluster, guest)
        job.log(
            f"copying volume '{old}' from current storage '{storage_of(old)}' to target storage"
            f" '{target}'"
        )
        try:
            made = _copy_volume(shelf, old, target, job.text("format"))
        except ApiError as error:
            raise die(f"storage migration failed: {error.message}") from None
        drive.options.pop("format", None)
        drive.file = made.id
        if not is_unused(drive.key):
            drive.size = made.size
        guest.config.values[drive.key] = str(drive)
        if job.arguments.get("delete"):
            job.log(f"removing source volume '{old}' after successful copy")
            _free(job, shelf, old)
        else:
            key = add_unused(guest.config, old)
            job.log(f"adding source volume '{old}' as '{key}' to config")
        if guest.is_template:
            make_bases(job.cluster, guest, drive.key)
        notice_change(job.cluster, guest)


def _copy_volume(shelf: Shelf, volid: str, target: str, wanted: str) -> Volume:
    source = shelf.find(volid)
    if source is None:
        raise die(f"volume '{volid}' does not exist")
    storage = shelf.storage(target)
    return shelf.copy(source, storage, shelf.form_for(storage, wanted or source.format))


def _free(job: Job, shelf: Shelf, volid: str) -> None:
    try:
        shelf.free(volid)
    except ApiError as error:
        job.log(error.message)
