"""Containers that become templates."""

from __future__ import annotations

from typing import ClassVar

from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.errors import die
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.lxc.volumes import existing, has_feature, mounts_of, shelf_of
from stockman_lab.pve.qemu.file_lock import GuestWork
from stockman_lab.pve.workers import Job, register

_SECONDS = (0.5, 1.5)


def check(cluster: Cluster, guest: Guest) -> None:
    """Refuse what cannot become a template."""
    cluster.refuse_locked(guest)
    if guest.config.snapshots:
        raise die("unable to create template, because CT contains snapshots")
    if guest.is_template:
        raise die("you can't convert a template to a template")
    if guest.is_running:
        raise die("you can't convert a CT to template if the CT is running")


@register
class Template(GuestWork):
    """Makes base volumes of everything that a container mounts."""

    name: ClassVar[str] = "lxc.template"

    def check(self, job: Job, guest: Guest) -> float:
        return job.cluster.around.dice.between(*_SECONDS)

    def do(self, job: Job, guest: Guest) -> None:
        check(job.cluster, guest)
        shelf = shelf_of(job.cluster, guest)
        mounts = mounts_of(guest.config.values)
        for mount in mounts:
            if mount.kind != "volume" or not has_feature(shelf, "template", mount.volume):
                raise die(f"Template feature is not available for '{mount.volume}'")
        for mount in mounts:
            volume = existing(shelf, mount.volume)
            shelf.make_base(volume)
            mount.volume = volume.id
            guest.config.values[mount.key] = str(mount)
        guest.config.values["template"] = "1"
        guest.changed_at = job.cluster.now
        job.cluster.changed()
