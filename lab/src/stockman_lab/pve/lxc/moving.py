"""Volumes of containers that go to another storage, or to another container."""

from __future__ import annotations

from typing import ClassVar

from stockman_lab.pve import space
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.errors import ApiError, die
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.mount_point import MountPoint, parse_mount_point
from stockman_lab.pve.formats.new_volume import new_disk
from stockman_lab.pve.formats.sizes import GIB
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.guest_config.container_update import check_container_update
from stockman_lab.pve.guest_config.keys import is_indexed
from stockman_lab.pve.guest_config.pending import add_unused
from stockman_lab.pve.lxc.volumes import copied, existing, has_feature, mounts_of, shelf_of
from stockman_lab.pve.qemu.file_lock import GuestWork
from stockman_lab.pve.workers import Job, Work, register

_COPY_A_GIB, _RENAME = (1.0, 4.0), (0.2, 0.6)


def read_mount(guest: Guest, key: str) -> MountPoint:
    """A mount of a container; refused as a text that cannot be read where there is none."""
    try:
        return parse_mount_point(key, guest.config.values.get(key, ""))
    except FormatError as error:
        raise die(error.text) from None


def in_snapshots(guest: Guest, volid: str) -> bool:
    """Whether a snapshot holds a volume."""
    return any(
        mount.volume == volid
        for values in guest.config.snapshots.values()
        for mount in mounts_of(values)
    )


def check_storage_move(
    cluster: Cluster, guest: Guest, key: str, digest: str, *, delete: bool
) -> None:
    """Refuse to move what cannot go to another storage."""
    cluster.refuse_locked(guest)
    if guest.is_running:
        raise die("cannot move volumes of a running container")
    if is_indexed(key, "unused"):
        raise die(
            f"cannot move volume '{key}', only configured volumes can be moved to another storage"
        )
    mount = read_mount(guest, key)
    if delete and in_snapshots(guest, mount.volume):
        raise die("you can't move a volume with snapshots and delete the source")
    check_container_update(guest.config, digest)


@register
class MoveToStorage(Work):
    """Copies a volume to another storage; the container is locked meanwhile."""

    name: ClassVar[str] = "lxc.move"

    def begin(self, job: Job) -> float:
        guest = _guest(job)
        mount = read_mount(guest, job.text("volume"))
        if mount.kind != "volume":
            raise die(f"cannot copy volumes of type {mount.kind}")
        size = existing(shelf_of(job.cluster, guest), mount.volume).size
        return min(size / GIB, 30) * job.cluster.around.dice.between(*_COPY_A_GIB)

    def finish(self, job: Job) -> None:
        guest = _guest(job)
        shelf = shelf_of(job.cluster, guest)
        mount = read_mount(guest, job.text("volume"))
        source = existing(shelf, mount.volume)
        made = copied(shelf, source, shelf.storage(job.text("storage")))
        if guest.is_template:
            shelf.make_base(made)
        old, mount.volume, mount.size = mount.volume, made.id, made.size
        guest.config.values[mount.key] = str(mount)
        if not job.arguments.get("delete"):
            add_unused(guest.config, old)
            return
        try:
            shelf.free(old)
        except ApiError as error:
            job.warn(error.message)
            add_unused(guest.config, old)

    def ended(self, job: Job) -> None:
        guest = job.cluster.state.guests.get(job.number("vmid"))
        if guest is not None and guest.lock == "disk":
            guest.config.values.pop("lock")
            guest.changed_at = job.cluster.now


def check_reassign(cluster: Cluster, node: str, job_of: dict[str, str]) -> MountPoint:
    """Refuse a volume that cannot become another container's; returns what is moved."""
    key, target_key = job_of["volume"], job_of["target-volume"]
    vmid, target_vmid = int(job_of["vmid"]), int(job_of["target-vmid"])
    if "rootfs" in (key, target_key):
        raise die("Cannot move to/from 'rootfs'")
    if is_indexed(key, "unused") and not is_indexed(target_key, "unused"):
        raise die("Moving an unused volume to a used one is not possible")
    target = cluster.state.guests.get(target_vmid)
    if target is None:
        raise die(f"could not find CT {target_vmid}")
    if target.node != node:
        raise die(f"Both containers need to be on the same node ({node} != {target.node})")
    source = cluster.guest(node, vmid, "lxc")
    target = cluster.guest(node, target_vmid, "lxc")
    for guest in (source, target):
        cluster.refuse_locked(guest)
    if source.is_template or target.is_template:
        raise die("Can't move volumes from or to template CT")
    for guest, digest in ((source, "digest"), (target, "target-digest")):
        _check_digest(guest, job_of.get(digest, ""))
    if key not in source.config.values:
        raise die(f"volume '{key}' for container '{vmid}' does not exist")
    if target_key in target.config.values:
        raise die(
            f"Target volume key '{target_key}' is already in use for container '{target_vmid}'"
        )
    mount = read_mount(source, key)
    if in_snapshots(source, mount.volume):
        raise die("Cannot move volume used by a snapshot to another container")
    if mount.kind != "volume" or not has_feature(shelf_of(cluster, source), "rename", mount.volume):
        raise die("Storage does not support moving of this disk to another container")
    if source.is_running and not is_indexed(key, "unused"):
        raise die(
            "Cannot move in-use volume while the source CT is running - detach or shutdown first"
        )
    return mount


def _check_digest(guest: Guest, digest: str) -> None:
    try:
        check_container_update(guest.config, digest)
    except ApiError as error:
        raise die(f"Container {guest.vmid}: {error.message}") from None


@register
class Reassign(GuestWork):
    """Gives a volume to another container."""

    name: ClassVar[str] = "lxc.reassign"

    def check(self, job: Job, guest: Guest) -> float:
        del guest
        return job.cluster.around.dice.between(*_RENAME)

    def do(self, job: Job, guest: Guest) -> None:
        cluster = job.cluster
        asked = {name: str(value) for name, value in job.arguments.items()}
        mount = check_reassign(cluster, job.task.node, asked)
        target = cluster.state.guests[job.number("target-vmid")]
        key = asked["target-volume"]
        job.log(f"moving volume '{mount.key}' from container '{guest.vmid}' to '{target.vmid}'")
        volume = existing(shelf_of(cluster, guest), mount.volume)
        storage = space.configured(cluster, volume.storage)
        names = [one.name for one in space.volumes_on(cluster, storage, guest.node)]
        space.rename(cluster, volume, new_disk(storage.type, names, target.vmid, volume.format))
        volume.vmid = target.vmid
        del guest.config.values[mount.key]
        job.log(f"removing volume '{mount.key}' from container '{guest.vmid}' config")
        mount.volume = volume.id
        is_unused = is_indexed(key, "unused")
        target.config.values[key] = volume.id if is_unused else str(MountPoint(key, mount.options))
        job.log(f"target container '{target.vmid}' updated with '{key}'")
        guest.changed_at = target.changed_at = cluster.now


def _guest(job: Job) -> Guest:
    return job.cluster.guest(job.task.node, job.number("vmid"), "lxc")
