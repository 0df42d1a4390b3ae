"""`/nodes/NODE/disks`: disks and ZFS pools of a host."""

from __future__ import annotations

from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.errors import die
from stockman_lab.pve.formats.lists import split_list
from stockman_lab.pve.storages.host_disks import (
    WIPE_DISK,
    disk_at,
    disk_row,
    is_mounted,
    unused_disk,
)
from stockman_lab.pve.storages.making_pools import (
    DROP_POOL,
    MAKE_POOL,
    check_storage,
    pools_like,
    used_in,
)


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


@endpoint("PUT", "/nodes/{node}/disks/wipedisk")
def wipe(call: Call) -> object:
    disk = disk_at(call.node, call.text("disk"))
    if is_mounted(disk):
        raise die(f"disk/partition '{disk.devpath}' is mounted")
    if disk.used == "LVM":
        raise die(f"disk/partition '{disk.devpath}' has a holder")
    name = disk.devpath.rpartition("/")[2]
    return call.start("wipedisk", name, WIPE_DISK, {"disk": disk.devpath})


_FEWEST = {
    "single": 1, "mirror": 2, "raid10": 4, "raidz": 3, "raidz2": 4, "raidz3": 5, "draid": 3,
    "draid2": 4, "draid3": 5,
}  # fmt: skip
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


@endpoint("POST", f"{_DISKS}/zfs")
def make_zfs(call: Call) -> object:
    level, name = call.text("raidlevel"), call.text("name")
    paths = split_list(call.text("devices"))
    if call.has("draid-config") and not level.startswith("draid"):
        raise die("draid-config set without using dRAID level")
    for path in paths:
        unused_disk(call.node, path)
    storage = _storage(call, {"type": "zfspool", "pool": name, "content": "rootdir,images"})
    if f"zfs:{name}" in call.node.pools:
        raise die(f"pool '{name}' already exists on node '{call.node.name}'")
    if level == "raid10" and len(paths) % 2:
        raise die("raid10 needs an even number of disks")
    if level == "single" and len(paths) > 1:
        raise die("please give only one disk for single disk mode")
    if len(paths) < _FEWEST[level]:
        raise die(f"{level} needs at least {_FEWEST[level]} disks")
    arguments: dict[str, object] = {"pool_name": name, "disks": ",".join(paths), "form": level}
    if storage is not None:
        arguments["storage"] = storage
    return call.start("zfscreate", name, MAKE_POOL, arguments)


@endpoint("DELETE", f"{_DISKS}/zfs/{{name}}")
def drop_zfs(call: Call) -> object:
    name = call.text("name")
    if call.flag("cleanup-config"):
        call.check("/storage", "Datastore.Allocate")
    command = f"zpool destroy {name}"
    arguments = {
        "pool": f"zfs:{name}",
        "command": command,
        "missing": f"command '{command}' failed: exit code 1",
        "config": int(call.flag("cleanup-config")),
        "wipe": int(call.flag("cleanup-disks")),
    }
    return call.start("zfsremove", name, DROP_POOL, arguments)


def _storage(call: Call, given: dict[str, str]) -> dict[str, str] | None:
    """Options of a storage on the new pool; None: none is asked for."""
    if not call.flag("add_storage"):
        return None
    call.check("/storage", "Datastore.Allocate")
    full = {**given, "storage": call.text("name"), "nodes": call.node.name}
    check_storage(call.cluster, call.node, full)
    return full
