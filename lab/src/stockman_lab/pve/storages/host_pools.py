"""Pools of a host: ZFS pools, volume groups, thin pools and mounted disks."""

from __future__ import annotations

from collections.abc import Iterator

from stockman_lab.pve import space
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.host import Host, Pool
from stockman_lab.pve.storage import Storage
from stockman_lab.pve.volume import Volume


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
