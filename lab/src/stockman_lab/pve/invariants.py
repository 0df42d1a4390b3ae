"""What holds in a Proxmox cluster at any time, whatever was asked of it."""

from __future__ import annotations

from collections.abc import Iterator, Set

from stockman_lab.pve import space
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.formats.drive import is_drive, is_unused, readable_drive
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.storage import Volume

_LACKING = frozenset({"none", "cdrom"})


def broken(cluster: Cluster, excused: Set[str] = frozenset()) -> Iterator[str]:
    """Everything that contradicts itself.

    Volumes named in `excused` may be missing although a guest refers to them: whoever removes
    files or storages behind a guest's back is not stopped by the real one either.
    """
    yield from _volumes(cluster)
    yield from _space(cluster)
    yield from _blobs(cluster)
    yield from _guests(cluster, excused)
    yield from _references(cluster)
    yield from _tasks(cluster)


def _volumes(cluster: Cluster) -> Iterator[str]:
    volumes = cluster.state.volumes
    for name, volume in volumes.items():
        if name != f"{volume.host}/{volume.id}":
            yield f"volume {volume.id} of host {volume.host!r} is kept as {name}"
        if volume.host and volume.host not in cluster.state.hosts:
            yield f"volume {name} is on a host that does not exist"
        if volume.size < 0 or volume.used < 0:
            yield f"volume {name} has {volume.size} bytes and takes {volume.used}"
        if volume.parent and _beside(volume, volume.parent) not in volumes:
            yield f"volume {name} is a clone of {volume.parent}, which is gone"
        names = [snapshot.name for snapshot in volume.snapshots]
        if len(set(names)) < len(names):
            yield f"volume {name} has two snapshots of one name: {', '.join(names)}"


def _beside(volume: Volume, name: str) -> str:
    return f"{volume.host}/{volume.storage}:{name}"


def _space(cluster: Cluster) -> Iterator[str]:
    """What storages say is taken is what their volumes take, and never more than there is."""
    state = cluster.state
    known = {one.id: one for one in (*state.removed_storages.values(), *state.storages.values())}
    for host in state.hosts.values():
        for storage in state.storages.values():
            pool = space.pool_of(cluster, storage, host)
            if pool is None:
                continue
            taken = sum(
                volume.used
                for volume in state.volumes.values()
                if volume.storage in known
                and (volume.host in ("", host.name) or pool.name in state.pools)
                and space.pool_of(cluster, known[volume.storage], host) is pool
            )
            said = space.space(cluster, storage, host)
            where = f"storage {storage.id} of host {host.name}"
            if said.used != taken + pool.other:
                yield f"{where} says {said.used} bytes, its volumes {taken + pool.other}"
            if said.used > said.total:
                yield f"{where} holds {said.used} of {said.total} bytes"


def _blobs(cluster: Cluster) -> Iterator[str]:
    blobs = cluster.around.blobs
    for name, volume in cluster.state.volumes.items():
        for blob in (volume.blob, *(snapshot.blob for snapshot in volume.snapshots)):
            if blob and blob not in blobs:
                yield f"the bytes of volume {name} are gone"


def _guests(cluster: Cluster, excused: Set[str]) -> Iterator[str]:
    state = cluster.state
    for vmid, guest in state.guests.items():
        if guest.vmid != vmid:
            yield f"guest {guest.vmid} is kept as {vmid}"
        if guest.node not in state.hosts:
            yield f"guest {vmid} is on {guest.node}, which does not exist"
            continue
        if guest.is_running and not state.hosts[guest.node].has_power:
            yield f"guest {vmid} runs on {guest.node}, which has no power"
        if guest.is_running and guest.is_template:
            yield f"guest {vmid} is a template and runs"
        if guest.paused and not guest.is_running:
            yield f"guest {vmid} is stopped and paused"
        yield from _disks(cluster, guest, excused)


def _disks(cluster: Cluster, guest: Guest, excused: Set[str]) -> Iterator[str]:
    unused = [value for key, value in guest.config.values.items() if is_unused(key)]
    if len(set(unused)) < len(unused):
        yield f"guest {guest.vmid} has one volume as several unused disks: {', '.join(unused)}"
    for key, volid in _volids(guest):
        if volid in excused or volid.partition(":")[0] not in cluster.state.storages:
            continue
        if key == "rootfs" and volid.partition(":")[2].replace(".", "", 1).isdigit():
            continue  # the real one writes down the size that an update asks for, and makes nothing
        if space.find(cluster, guest.node, volid) is None:
            yield f"guest {guest.vmid} has {key} on {volid}, which does not exist"


def _volids(guest: Guest) -> Iterator[tuple[str, str]]:
    for key, value in guest.config.values.items():
        if guest.kind == "qemu" and is_drive(key):
            drive = readable_drive(key, value)
            volid = drive.file if drive is not None else ""
        elif is_unused(key):
            volid = value.partition(",")[0]
        elif guest.kind == "lxc" and (key == "rootfs" or _is_mount_point(key)):
            volid = value.partition(",")[0].removeprefix("volume=")
        else:
            continue
        if volid not in _LACKING and not volid.startswith("/") and ":" in volid:
            yield key, volid


def _is_mount_point(key: str) -> bool:
    return key.startswith("mp") and key[2:].isdigit()


def _references(cluster: Cluster) -> Iterator[str]:
    """What files of the cluster say of guests and storages that there are."""
    state = cluster.state
    members: set[int] = set()
    for pool in state.resource_pools.values():
        for vmid in pool.guests:
            if vmid not in state.guests:
                yield f"pool {pool.id} has guest {vmid}, which does not exist"
            if vmid in members:
                yield f"guest {vmid} is in two pools"
            members.add(vmid)
        for storage in pool.storages:
            if storage not in state.storages:
                yield f"pool {pool.id} has storage {storage}, which does not exist"
    for sid in state.ha_resources:
        vmid = int(sid.partition(":")[2])
        if vmid not in state.guests:
            yield f"{sid} is a resource of HA, and the guest does not exist"
    for vmid in state.guest_firewalls:
        if vmid not in state.guests:
            yield f"guest {vmid} has a firewall and does not exist"


def _tasks(cluster: Cluster) -> Iterator[str]:
    for upid, task in cluster.state.tasks.items():
        if task.upid != upid:
            yield f"task {task.upid} is kept as {upid}"
        if task.ended_at is not None and task.ended_at < task.started_at:
            yield f"task {upid} ended before it began"
        if task.ended_at is not None and not task.exit_status:
            yield f"task {upid} ended without a word"
