"""Containers that are made from others: full copies, or linked to a template."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from stockman_lab.pve import space
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.errors import ApiError, die
from stockman_lab.pve.formats.container_nic import parse_container_nic
from stockman_lab.pve.formats.mac import DEFAULT_PREFIX, new_mac
from stockman_lab.pve.formats.sizes import GIB
from stockman_lab.pve.formats.volume_name import storage_of
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.guest_config.keys import is_indexed
from stockman_lab.pve.guest_ids import forget
from stockman_lab.pve.lxc.volumes import copied, existing, has_feature, linked, mounts_of, shelf_of
from stockman_lab.pve.qemu.shelf import Shelf
from stockman_lab.pve.workers import Job, Work, register

_LINK, _COPY_A_GIB = (1.0, 2.0), (1.0, 4.0)
_NOT_CLONED = frozenset({"lock", "parent", "snaptime", "snapstate", "template"})


@dataclass(slots=True)
class Copied:
    """What a clone will be."""

    values: dict[str, str] = field(default_factory=dict)
    mounts: dict[str, str] = field(default_factory=dict)
    storages: list[str] = field(default_factory=list)
    """That new volumes go to."""
    is_shared: bool = True
    """Whether other hosts see all of it."""


def copy_of(cluster: Cluster, guest: Guest, snapshot: str, storage: str, *, full: bool) -> Copied:
    """What a clone takes over from a container; refuses what cannot be cloned."""
    if storage and not full:
        raise die("parameter 'storage' not allowed for linked clones")
    if snapshot and snapshot not in guest.config.snapshots:
        raise die(f"snapshot '{snapshot}' does not exist")
    source = guest.config.snapshots[snapshot] if snapshot else guest.config.values
    shelf, found = shelf_of(cluster, guest), Copied()
    mounts = {mount.key: mount for mount in mounts_of(source)}
    for key in sorted(source):
        if key in mounts:
            mount = mounts[key]
            if mount.kind != "volume":
                raise die(f"unable to clone mountpoint '{key}' (type {mount.kind})")
            target = storage or storage_of(mount.volume)
            found.storages.append(target)
            found.is_shared &= space.configured(cluster, target).is_shared
            if full and guest.is_running and not snapshot:
                raise die("Full clone of a running container is only possible from a snapshot")
            if not full and not has_feature(shelf, "clone", mount.volume, snapshot):
                raise die(f"Linked clone feature for '{mount.volume}' is not available")
            found.mounts[key] = source[key]
        elif is_indexed(key, "net"):
            found.values[key] = _renewed(cluster, source[key])
        elif key not in _NOT_CLONED and not is_indexed(key, "unused"):
            found.values[key] = source[key]
    return found


def _renewed(cluster: Cluster, text: str) -> str:
    card = parse_container_nic(text)
    prefix = cluster.state.options.get("mac_prefix", DEFAULT_PREFIX)
    card.options["hwaddr"] = new_mac(cluster.around.dice, prefix)
    return str(card)


@register
class Clone(Work):
    """Copies volumes; the source keeps its lock `disk` until it is through."""

    name: ClassVar[str] = "lxc.clone"

    def begin(self, job: Job) -> float:
        cluster, dice = job.cluster, job.cluster.around.dice
        new = job.number("newid")
        job.log(f"creating a clone of container {job.number('vmid')} with ID {new}")
        seconds = dice.between(*_LINK)
        if job.arguments.get("full"):
            shelf = shelf_of(cluster, cluster.state.guests[new])
            for mount in mounts_of(_mounts(job)):
                size = existing(shelf, mount.volume).size
                seconds += min(size / GIB, 30) * dice.between(*_COPY_A_GIB)
        return seconds

    def finish(self, job: Job) -> None:
        cluster = job.cluster
        guest = cluster.state.guests[job.number("newid")]
        shelf = shelf_of(cluster, guest)
        volumes: list[str] = []
        try:
            for mount in mounts_of(_mounts(job)):
                mount.volume = _made(job, shelf, mount.key, mount.volume)
                volumes.append(mount.volume)
                guest.config.values[mount.key] = str(mount)
        except ApiError as error:
            for volid in volumes:
                shelf.free(volid)
            raise die(f"clone failed: {error.message}") from None
        pool = cluster.state.resource_pools.get(job.text("pool"))
        if pool is not None:
            pool.guests.append(guest.vmid)
        guest.config.values.pop("lock", None)
        guest.node = job.text("target") or guest.node
        guest.changed_at = cluster.now
        job.arguments["cloned"] = True
        cluster.changed()

    def ended(self, job: Job) -> None:
        source = job.cluster.state.guests.get(job.number("vmid"))
        if source is not None and source.lock == "disk":
            source.config.values.pop("lock")
        if not job.arguments.get("cloned"):
            forget(job.cluster, job.number("newid"))


def _mounts(job: Job) -> dict[str, str]:
    mounts = job.arguments.get("mounts")
    return (
        {str(key): str(value) for key, value in mounts.items()} if isinstance(mounts, dict) else {}
    )


def _made(job: Job, shelf: Shelf, key: str, volid: str) -> str:
    source = existing(shelf, volid)
    if not job.arguments.get("full"):
        job.log(f"create linked clone of mount point {key} ({volid})")
        return linked(shelf, source).id
    job.log(f"create full clone of mountpoint {key} ({volid})")
    return copied(shelf, source, shelf.storage(job.text("storage") or source.storage)).id
