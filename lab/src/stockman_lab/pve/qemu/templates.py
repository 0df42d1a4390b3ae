"""Virtual machines that become templates: their disks can only be cloned from then on."""

from __future__ import annotations

from typing import ClassVar

from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.errors import die
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.qemu.drives import drives_of
from stockman_lab.pve.qemu.file_lock import GuestWork
from stockman_lab.pve.qemu.power import shelf_of
from stockman_lab.pve.qemu.shelf import has_feature
from stockman_lab.pve.workers import Job, register

_SECONDS = (0.5, 1.8)


def check_template(cluster: Cluster, guest: Guest, disk: str) -> None:
    """Refuse to make a template of what cannot be one."""
    cluster.refuse_locked(guest)
    if guest.config.snapshots:
        raise die("unable to create template, because VM contains snapshots")
    if guest.is_template and not disk:
        raise die("you can't convert a template to a template")
    if guest.is_running:
        raise die("you can't convert a VM to template if VM is running")


@register
class Template(GuestWork):
    """Makes a template of a machine."""

    name: ClassVar[str] = "qemu.template"

    def check(self, job: Job, guest: Guest) -> float:
        check_template(job.cluster, guest, job.text("disk"))
        return job.cluster.around.dice.between(*_SECONDS)

    def do(self, job: Job, guest: Guest) -> None:
        guest.config.values["template"] = "1"
        guest.changed_at = job.cluster.now
        make_bases(job.cluster, guest, job.text("disk"))


def make_bases(cluster: Cluster, guest: Guest, disk: str = "") -> None:
    """Make the disks of a template ones that can be linked to; only one of them if it is named."""
    shelf = shelf_of(cluster, guest)
    for drive in drives_of(guest.config.values):
        if drive.is_cdrom or (disk and drive.key != disk) or not drive.volume:
            continue
        volume = shelf.find(drive.volume)
        if volume is None or not has_feature(shelf, "template", drive.volume):
            continue
        shelf.make_base(volume)
        drive.file = volume.id
        guest.config.values[drive.key] = str(drive)
