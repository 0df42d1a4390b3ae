"""Pools of a host: what is in them, and work that makes them of disks and takes them apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stockman_lab.pve import space
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.errors import ApiError, die
from stockman_lab.pve.host import Host, Pool
from stockman_lab.pve.storage import Storage, Volume
from stockman_lab.pve.storages.configuring import add_storage, change_storage, remove_storage
from stockman_lab.pve.storages.host_disks import disk_at, unused_disk
from stockman_lab.pve.storages.removing import running_user
from stockman_lab.pve.workers import Job, Work, register


def pools_like(host: Host, prefix: str) -> Iterator[tuple[str, Pool]]:
    """Pools of one kind, each with its name without that prefix."""
    for name, pool in sorted(host.pools.items()):
        if name.startswith(prefix):
            yield name.removeprefix(prefix), pool


def storages_in(cluster: Cluster, host: Host, pool: Pool) -> list[Storage]:
    """Storages whose volumes on a host are in a pool."""
    state = cluster.state
    known = (*state.storages.values(), *state.removed_storages.values())
    return [one for one in known if space.pool_of(cluster, one, host) is pool]


def volumes_in(cluster: Cluster, host: Host, pool: Pool) -> list[Volume]:
    """Volumes of a host that are in a pool."""
    names = {storage.id for storage in storages_in(cluster, host, pool)}
    return [
        volume
        for volume in cluster.state.volumes.values()
        if volume.storage in names and volume.host == host.name
    ]


def used_in(cluster: Cluster, host: Host, pool: Pool) -> int:
    """Bytes of a pool that are taken."""
    return pool.other + sum(volume.used for volume in volumes_in(cluster, host, pool))


def capacity(level: str, sizes: list[int]) -> int:
    """Bytes of a ZFS pool made of disks."""
    smallest, count = min(sizes), len(sizes)
    parity = {"raidz": 1, "raidz2": 2, "raidz3": 3, "draid": 1, "draid2": 2, "draid3": 3}
    if level == "single":
        return sizes[0]
    if level == "mirror":
        return smallest
    if level == "raid10":
        return smallest * (count // 2)
    return smallest * (count - parity[level])


MAKE_POOL = "storage.make-pool"
DROP_POOL = "storage.drop-pool"


def check_storage(cluster: Cluster, host: Host, given: Mapping[str, str]) -> None:
    """Refuse a storage for a new pool where there is another of that name."""
    name = given["storage"]
    storage = cluster.state.storages.get(name)
    if storage is None:
        return
    if not storage.nodes or host.name in storage.nodes:
        raise die(f"Storage ID '{name}' already exists on node {host.name}")
    there = {**storage.options, "type": storage.type}
    for option in ("type", "pool"):
        if given[option] != there.get(option, ""):
            raise die(
                f"Option '{option}' ({given[option]}) does not match "
                f"existing storage configuration '{there.get(option, '')}'"
            )


@register
class MakePool(Work):
    """Creates the ZFS pool `pool` of `disks`; `storage` holds options of a storage for it."""

    name = MAKE_POOL

    def begin(self, job: Job) -> float:
        return job.cluster.around.dice.between(3.0, 8.0)

    def finish(self, job: Job) -> None:
        host = job.cluster.host(job.task.node)
        name = job.text("pool_name")
        paths = job.text("disks").split(",")
        disks = [unused_disk(host, path) for path in paths]
        form, sizes = job.text("form"), [disk.size for disk in disks]
        pool = Pool(f"zfs:{name}", capacity(form, sizes), disks=paths, form=form)
        host.pools[pool.name] = pool
        for disk in disks:
            disk.used = "ZFS"
        storage = job.arguments.get("storage")
        if isinstance(storage, dict):
            _add_or_extend(job.cluster, host, storage)


def _add_or_extend(cluster: Cluster, host: Host, given: dict[str, str]) -> None:
    name = given["storage"]
    storage = cluster.state.storages.get(name)
    if storage is not None:
        nodes = ",".join(sorted({*storage.nodes, host.name}))
        change_storage(cluster, name, {"nodes": nodes}, [], "")
        return
    options = {key: value for key, value in given.items() if key not in ("storage", "type")}
    add_storage(cluster, host, name, given["type"], options)


@register
class DropPool(Work):
    """Takes the pool `pool` apart; `config` also forgets its storages, `wipe` empties disks."""

    name = DROP_POOL

    def begin(self, job: Job) -> float:
        host = job.cluster.host(job.task.node)
        pool = host.pools.get(job.text("pool"))
        if pool is None:
            raise die(job.text("missing"))
        if any(running_user(job.cluster, volume) for volume in volumes_in(job.cluster, host, pool)):
            raise die(f"command '{job.text('command')}' failed: exit code 1")
        return job.cluster.around.dice.between(2.0, 5.0)

    def finish(self, job: Job) -> None:
        cluster, host = job.cluster, job.cluster.host(job.task.node)
        pool = host.pools.get(job.text("pool"))
        if pool is None:
            raise die(job.text("missing"))
        for volume in volumes_in(cluster, host, pool):
            del cluster.state.volumes[f"{volume.host}/{volume.id}"]
            cluster.around.blobs.release(volume.blob)
        users = [storage.id for storage in storages_in(cluster, host, pool)]
        del host.pools[pool.name]
        if job.number("config"):
            for name in users:
                _leave(cluster, host, name)
        if job.number("wipe"):
            for path in pool.disks:
                disk_at(host, path).used = ""


def _leave(cluster: Cluster, host: Host, name: str) -> None:
    storage = cluster.state.storages.get(name)
    if storage is None or not storage.is_on(host.name):
        return
    left = sorted((storage.nodes or set(cluster.state.hosts)) - {host.name})
    try:
        if left:
            change_storage(cluster, name, {"nodes": ",".join(left)}, [], "")
        else:
            remove_storage(cluster, name)
    except ApiError as error:
        raise die(f"config cleanup failed - {error.message}") from None
