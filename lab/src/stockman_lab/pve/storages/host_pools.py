"""Pools of a host: ZFS pools, volume groups, thin pools and mounted disks."""

from __future__ import annotations

from collections.abc import Iterator

from stockman_lab.pve import space
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.host import GIB, Host, Pool
from stockman_lab.pve.storage import Storage
from stockman_lab.pve.volume import Volume

MOUNTS = "fs:/mnt/pve/"
_SPARE = 16 * GIB
"""What the installer leaves free of a volume group with a thin pool."""


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


def volume_groups(cluster: Cluster, host: Host) -> dict[str, tuple[int, int, list[str]]]:
    """Size, free space and disks of each volume group."""
    found: dict[str, tuple[int, int, list[str]]] = {}
    for name, pool in pools_like(host, "lvm:"):
        found[name] = (pool.size, pool.size - used_in(cluster, host, pool), pool.disks)
    for name, pool in pools_like(host, "lvmthin:"):
        group = name.partition("/")[0]
        size, free, disks = found.get(group, (_SPARE, _SPARE, []))
        found[group] = (size + pool.size, free, disks or pool.disks)
    return found


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


def thin_capacity(size: int) -> int:
    """Bytes of data in a thin pool on a whole disk."""
    data = size // 1024 - 128 * 1024
    metadata = min(max(data // 100, 1024 * 1024), 16 * 1024 * 1024)
    return (data - 2 * metadata) * 1024
