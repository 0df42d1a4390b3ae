"""`/nodes/NODE/disks/zfs|lvm|lvmthin|directory`: what disks of a host are made into."""

from __future__ import annotations

from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.errors import die
from stockman_lab.pve.storages.host_disks import unused_disk
from stockman_lab.pve.storages.host_pools import MOUNTS, pools_like, used_in, volume_groups
from stockman_lab.pve.storages.making_pools import DROP_POOL, MAKE_POOL, check_storage
from stockman_lab.pve.storages.settings import split_list

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
    given = {"type": "zfspool", "pool": name, "content": "rootdir,images"}
    storage = _storage(call, given, ("pool",))
    if f"zfs:{name}" in call.node.pools:
        raise die(f"pool '{name}' already exists on node '{call.node.name}'")
    if level == "raid10" and len(paths) % 2:
        raise die("raid10 needs an even number of disks")
    if level == "single" and len(paths) > 1:
        raise die("please give only one disk for single disk mode")
    if len(paths) < _FEWEST[level]:
        raise die(f"{level} needs at least {_FEWEST[level]} disks")
    return _make(call, "zfscreate", "zfs", ",".join(paths), storage, level)


@endpoint("GET", f"{_DISKS}/lvm")
def groups(call: Call) -> object:
    children = [
        {
            "name": name,
            "size": size,
            "free": free,
            "leaf": 0,
            "lvcount": 0,
            "children": [
                {"name": path, "size": size // len(disks), "free": free // len(disks), "leaf": 1}
                for path in disks
            ],
        }
        for name, (size, free, disks) in volume_groups(call.cluster, call.node).items()
    ]
    return {"leaf": 0, "children": children}


@endpoint("POST", f"{_DISKS}/lvm")
def make_group(call: Call) -> object:
    unused_disk(call.node, call.text("device"))
    given = {
        "type": "lvm", "vgname": call.text("name"), "content": "rootdir,images", "shared": "0",
    }  # fmt: skip
    storage = _storage(call, given, ("vgname",))
    return _make(call, "lvmcreate", "lvm", call.text("device"), storage)


@endpoint("GET", f"{_DISKS}/lvmthin")
def thin_pools(call: Call) -> object:
    rows: list[dict[str, object]] = []
    for name, pool in pools_like(call.node, "lvmthin:"):
        group, _, volume = name.partition("/")
        metadata = min(max(pool.size // 100, 1 << 30), 16 << 30)
        used = used_in(call.cluster, call.node, pool)
        rows.append(
            {
                "lv": volume,
                "vg": group,
                "lv_size": pool.size,
                "used": used,
                "metadata_size": metadata,
                "metadata_used": metadata * used // max(pool.size, 1),
            }
        )
    return rows


@endpoint("POST", f"{_DISKS}/lvmthin")
def make_thin(call: Call) -> object:
    unused_disk(call.node, call.text("device"))
    name = call.text("name")
    given = {"type": "lvmthin", "vgname": name, "thinpool": name, "content": "rootdir,images"}
    storage = _storage(call, given, ("vgname", "thinpool"))
    return _make(call, "lvmthincreate", "lvmthin", call.text("device"), storage)


@endpoint("GET", f"{_DISKS}/directory")
def directories(call: Call) -> object:
    return [
        {
            "unitfile": f"/etc/systemd/system/{_unit(name)}",
            "path": f"/mnt/pve/{name}",
            "device": f"/dev/disk/by-uuid/{_uuid(call.node.name, name)}",
            "type": pool.form or "ext4",
            "options": "defaults",
        }
        for name, pool in pools_like(call.node, MOUNTS)
    ]


@endpoint("POST", f"{_DISKS}/directory")
def make_directory(call: Call) -> object:
    unused_disk(call.node, call.text("device"))
    path = f"/mnt/pve/{call.text('name')}"
    given = {
        "type": "dir", "path": path, "is_mountpoint": "1",
        "content": "rootdir,images,iso,backup,vztmpl,snippets",
    }  # fmt: skip
    storage = _storage(call, given, ("path",))
    pool = call.node.pools.get(f"fs:{path}")
    if pool is not None:
        where = pool.disks[0] if pool.disks else "unknown"
        raise die(f"the path for '{call.text('name')}' is already mounted: {path} ({where})")
    form = call.text("filesystem", "ext4")
    return _make(call, "dircreate", "dir", call.text("device"), storage, form)


@endpoint("DELETE", f"{_DISKS}/zfs/{{name}}")
def drop_zfs(call: Call) -> object:
    name = call.text("name")
    command = f"zpool destroy {name}"
    missing = f"command '{command}' failed: exit code 1"
    return _drop(call, ("zfsremove", name), f"zfs:{name}", command, missing)


@endpoint("DELETE", f"{_DISKS}/lvm/{{name}}")
def drop_group(call: Call) -> object:
    name = call.text("name")
    missing = f"no such volume group '{name}'"
    return _drop(call, ("lvmremove", name), f"lvm:{name}", f"vgremove -y {name}", missing)


@endpoint("DELETE", f"{_DISKS}/lvmthin/{{name}}")
def drop_thin(call: Call) -> object:
    group, name = call.text("volume-group"), call.text("name")
    where = f"{group}/{name}"
    task = ("lvmthinremove", f"{group}-{name}")
    missing = f"no such thin pool {where}"
    return _drop(call, task, f"lvmthin:{where}", f"lvremove -y {where}", missing)


@endpoint("DELETE", f"{_DISKS}/directory/{{name}}")
def drop_directory(call: Call) -> object:
    name = call.text("name")
    command = f"systemctl stop {_unit(name)}"
    missing = f"command '{command}' failed: exit code 5"
    return _drop(call, ("dirremove", name), f"{MOUNTS}{name}", command, missing)


def _storage(call: Call, given: dict[str, str], verified: tuple[str, ...]) -> dict[str, str] | None:
    """Options of a storage on the new pool; None: none is asked for."""
    if not call.flag("add_storage"):
        return None
    call.check("/storage", "Datastore.Allocate")
    full = {**given, "storage": call.text("name"), "nodes": call.node.name}
    check_storage(call.cluster, call.node, full, verified)
    return full


def _make(  # noqa: PLR0913  # what makes a pool
    call: Call, task: str, kind: str, disks: str, storage: dict[str, str] | None, form: str = ""
) -> str:
    name = call.text("name")
    arguments: dict[str, object] = {"kind": kind, "pool_name": name, "disks": disks, "form": form}
    if storage is not None:
        arguments["storage"] = storage
    return call.start(task, name, MAKE_POOL, arguments)


def _drop(call: Call, task: tuple[str, str], pool: str, command: str, missing: str) -> str:
    if call.flag("cleanup-config"):
        call.check("/storage", "Datastore.Allocate")
    arguments = {
        "pool": pool,
        "command": command,
        "missing": missing,
        "config": int(call.flag("cleanup-config")),
        "wipe": int(call.flag("cleanup-disks")),
    }
    return call.start(*task, DROP_POOL, arguments)


def _unit(name: str) -> str:
    """The unit of systemd that mounts a directory."""
    escaped = name.replace("-", "\\x2d")
    return f"mnt-pve-{escaped}.mount"


def _uuid(host: str, name: str) -> str:
    from uuid import NAMESPACE_URL, uuid5

    return str(uuid5(NAMESPACE_URL, f"{host}/{name}"))
