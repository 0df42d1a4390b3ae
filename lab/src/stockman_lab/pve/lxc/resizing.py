"""Volumes of containers that grow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from stockman_lab.pve import space
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.errors import die
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.mount_point import MountPoint, parse_mount_point
from stockman_lab.pve.formats.sizes import resized
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.guest_config.container_update import check_container_update
from stockman_lab.pve.lxc.volumes import existing, shelf_of
from stockman_lab.pve.qemu.file_lock import GuestWork
from stockman_lab.pve.volume import Volume
from stockman_lab.pve.workers import Job, register

_SECONDS = (0.2, 0.8)


@dataclass(slots=True)
class Growth:
    """What is to grow, and to what."""

    mount: MountPoint
    volume: Volume
    size: int


def planned(cluster: Cluster, guest: Guest, disk: str, size: str, digest: str) -> Growth:
    """What a request to resize comes to; refused where it would shrink, or change nothing."""
    check_container_update(guest.config, digest)
    try:
        mount = parse_mount_point(disk, guest.config.values.get(disk, ""))
    except FormatError as error:
        raise die(error.text) from None
    shelf = shelf_of(cluster, guest)
    owner = shelf.name_of(mount.volume).owner
    if owner != guest.vmid:
        raise die(f"can't resize mount point owned by another container ({owner})")
    volume = existing(shelf, mount.volume)
    wanted = resized(volume.size, size)
    if wanted < volume.size:
        raise die("unable to shrink disk size")
    if wanted == volume.size:
        raise die("disk is already at specified size")
    return Growth(mount, volume, wanted)


@register
class Resize(GuestWork):
    """Makes a volume larger."""

    name: ClassVar[str] = "lxc.resize"

    def check(self, job: Job, guest: Guest) -> float:
        self._planned(job, guest)
        return job.cluster.around.dice.between(*_SECONDS)

    def do(self, job: Job, guest: Guest) -> None:
        found = self._planned(job, guest)
        host = job.cluster.state.hosts[guest.node]
        space.resize(job.cluster, found.volume, found.size, host)
        found.mount.size = found.size
        guest.config.values[found.mount.key] = str(found.mount)
        guest.changed_at = job.cluster.now

    def _planned(self, job: Job, guest: Guest) -> Growth:
        return planned(job.cluster, guest, job.text("disk"), job.text("size"), job.text("digest"))
