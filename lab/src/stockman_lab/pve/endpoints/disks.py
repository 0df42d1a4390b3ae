"""`/nodes/NODE/disks`: disks and ZFS pools of a host."""

from __future__ import annotations

from collections.abc import Iterator

from stockman_lab.pve import space
from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.errors import die
from stockman_lab.pve.host import Host, PhysicalDisk, Pool
from stockman_lab.pve.storage import Storage, Volume


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


_FLASH = frozenset({"ssd", "nvme"})


def disk_row(disk: PhysicalDisk, *, skip_health: bool) -> dict[str, object]:
    """A disk as lists show it."""
    row: dict[str, object] = {
        "devpath": disk.devpath,
        "size": disk.size,
        "vendor": disk.vendor,
        "model": disk.model or "unknown",
        "serial": disk.serial or "unknown",
        "wwn": disk.wwn or "unknown",
        "type": "nvme" if "nvme" in disk.devpath else disk.kind,
        "rpm": disk.rpm,
        "gpt": int(disk.gpt or bool(disk.used)),
        "mounted": int(is_mounted(disk)),
        "health": "UNKNOWN" if skip_health else disk.health,
        "wearout": 100 if disk.kind in _FLASH and not skip_health else "N/A",
        "osdid": -1,
        "osdid-list": [],
    }
    if disk.serial:
        name = f"{disk.model}_{disk.serial}".replace(" ", "_")
        row["by_id_link"] = f"/dev/disk/by-id/ata-{name}"
    if disk.used:
        row["used"] = disk.used
    return row


def is_mounted(disk: PhysicalDisk) -> bool:
    """Whether a file system of it is in use."""
    return disk.used in ("mounted", "ext4", "xfs", "BIOS boot", "EFI")


@endpoint("GET", "/nodes/{node}/disks/list")
def disks(call: Call) -> object:
    kind = call.text("type")
    return [
        disk_row(disk, skip_health=call.flag("skipsmart"))
        for disk in sorted(call.node.disks, key=lambda one: one.devpath)
        if kind == ""
        or not disk.used
        or (kind == "journal_disks" and disk.used in ("partitions", "LVM"))
    ]


_DISKS = "/nodes/{node}/disks"


@endpoint("GET", f"{_DISKS}/zfs")
def zfs_pools(call: Call) -> object:
    rows: list[dict[str, object]] = []
    for name, pool in pools_like(call.node, "zfs:"):
        taken = used_in(call.cluster, call.node, pool)
        rows.append(
            {
                "name": name,
                "size": pool.size,
                "alloc": taken,
                "free": pool.size - taken,
                "frag": 0,
                "dedup": 1,
                "health": "ONLINE",
            }
        )
    return rows


@endpoint("GET", f"{_DISKS}/zfs/{{name}}")
def zfs_pool(call: Call) -> object:
    name = call.text("name")
    pool = call.node.pools.get(f"zfs:{name}")
    if pool is None:
        raise die(f"command '/sbin/zpool status -P {name}' failed: exit code 1")
    leaves: list[dict[str, object]] = [{**_device(path), "leaf": 1} for path in pool.disks]
    if pool.form not in ("", "single"):
        group = "mirror-0" if pool.form in ("mirror", "raid10") else f"{pool.form}-0"
        leaves = [{**_device(group), "children": leaves, "leaf": 0}]
    root = {**_device(name), "children": leaves, "leaf": 0}
    return {
        "name": name,
        "state": "ONLINE",
        "errors": "No known data errors",
        "children": [root],
        "leaf": 0,
    }


def _device(name: str) -> dict[str, object]:
    return {"name": name, "msg": "", "state": "ONLINE", "read": 0, "write": 0, "cksum": 0}
