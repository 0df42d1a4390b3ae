"""Volumes of one container: roots and mount points, made, copied, linked and freed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from stockman_lab.pve import space
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.errors import die
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.mount_point import MountPoint, is_mount, parse_mount_point
from stockman_lab.pve.formats.sizes import new_mount_bytes, parse_resize
from stockman_lab.pve.formats.volume_name import storage_of
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.guest_config.container_update import check_container_update
from stockman_lab.pve.guest_config.keys import index_of, is_indexed
from stockman_lab.pve.qemu.file_lock import GuestWork
from stockman_lab.pve.qemu.shelf import Shelf
from stockman_lab.pve.storage import Storage, Volume
from stockman_lab.pve.workers import Job, register

CONTENT = "rootdir"


def shelf_of(cluster: Cluster, guest: Guest) -> Shelf:
    """The volumes that a container sees."""
    return Shelf(cluster, cluster.state.hosts[guest.node], guest.vmid)


def mounts_of(values: Mapping[str, str]) -> list[MountPoint]:
    """What a container mounts, its root first."""
    keys = sorted(
        (key for key in values if is_mount(key)), key=lambda one: index_of(one, "mp") or 0
    )
    keys.sort(key=lambda one: one != "rootfs")
    return [parse_mount_point(key, values[key]) for key in keys]


def volumes_of(values: Mapping[str, str], *, unused: bool = False) -> list[str]:
    """Volumes that a configuration names, each once."""
    volumes = [mount.volume for mount in mounts_of(values) if mount.kind == "volume"]
    if unused:
        volumes += [values[key] for key in sorted(values) if is_indexed(key, "unused")]
    return list(dict.fromkeys(volumes))


def form_on(storage: Storage, size: int) -> str:
    """What a volume of a container is on a storage: a file system of its own, or a disk."""
    if storage.type == "zfspool" or (storage.is_files and size == 0):
        return "subvol"
    return "raw"


def allocate_volume(shelf: Shelf, storage: Storage, size: int) -> Volume:
    """A new empty volume."""
    if CONTENT not in storage.content:
        raise die(
            f"content type 'rootdir' is not available or configured on storage '{storage.id}'"
        )
    allocate = shelf.allocate(storage, size, form_on(storage, size))
    allocate.content = CONTENT
    return allocate


def existing(shelf: Shelf, volid: str) -> Volume:
    """A volume that has to be there."""
    shelf.name_of(volid)
    volume = shelf.find(volid)
    if volume is None:
        raise die(f"volume '{volid}' does not exist")
    return volume


def check_content(shelf: Shelf, values: Mapping[str, str]) -> None:
    """Refuse mounts of storages that are not for containers."""
    for mount in mounts_of(values):
        if mount.kind != "volume":
            continue
        storage = space.find_storage(shelf.cluster, mount.volume.partition(":")[0])
        if CONTENT not in storage.content:
            raise die(f"storage '{storage.id}' does not allow content type 'rootdir' (Container)")


@dataclass(slots=True)
class MountMaker:
    """Makes the volumes that mounts ask for, and can take them back."""

    shelf: Shelf
    made: list[str] = field(default_factory=list)

    def __call__(self, mount: MountPoint) -> MountPoint:
        """The mount with a volume that is there."""
        wanted = mount.new_volume
        if wanted is not None and storage_of(mount.volume):
            storage = self.shelf.storage(wanted[0])
            size = new_mount_bytes(wanted[1])
            volume = allocate_volume(self.shelf, storage, size)
            self.made.append(volume.id)
            mount.volume, mount.size = volume.id, size
        elif mount.kind == "volume":
            mount.size = existing(self.shelf, mount.volume).size
        return mount

    def undo(self) -> None:
        """Destroy what was made."""
        for volid in self.made:
            self.shelf.free(volid)
        self.made.clear()


def free_all(shelf: Shelf, volids: list[str]) -> Iterator[str]:
    """Destroy volumes; yields the names of those that were."""
    for volid in volids:
        if shelf.find(volid) is not None:
            shelf.free(volid)
            yield volid


_RESIZE_SECONDS = (0.2, 0.8)


@dataclass(slots=True)
class Growth:
    """What is to grow, and to what."""

    mount: MountPoint
    volume: Volume
    size: int


def plan_growth(cluster: Cluster, guest: Guest, disk: str, size: str, digest: str) -> Growth:
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
    wanted = parse_resize(volume.size, size)
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
        return job.cluster.around.dice.between(*_RESIZE_SECONDS)

    def do(self, job: Job, guest: Guest) -> None:
        found = self._planned(job, guest)
        host = job.cluster.state.hosts[guest.node]
        space.resize(job.cluster, found.volume, found.size, host)
        found.mount.size = found.size
        guest.config.values[found.mount.key] = str(found.mount)
        guest.changed_at = job.cluster.now

    def _planned(self, job: Job, guest: Guest) -> Growth:
        return plan_growth(
            job.cluster, guest, job.text("disk"), job.text("size"), job.text("digest")
        )
