"""`/nodes/NODE/scan`: what a host finds that could be a storage."""

from __future__ import annotations

from collections.abc import Iterator

from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.errors import die
from stockman_lab.pve.storages.host_pools import pools_like, used_in, volume_groups


@endpoint("GET", "/nodes/{node}/scan")
def index(call: Call) -> object:
    del call
    return [{"method": name} for name in ("cifs", "iscsi", "lvm", "nfs", "pbs", "zfs")]


@endpoint("GET", "/nodes/{node}/scan/zfs")
def zfs(call: Call) -> object:
    return [
        {"pool": name, "size": free, "free": free - used} for name, free, used in _datasets(call)
    ]


@endpoint("GET", "/nodes/{node}/scan/lvm")
def lvm(call: Call) -> object:
    groups = volume_groups(call.cluster, call.node)
    return [
        {"vg": name, "size": size, "free": free, "lvcount": 0}
        for name, (size, free, _) in groups.items()
    ]


@endpoint("GET", "/nodes/{node}/scan/lvmthin")
def lvmthin(call: Call) -> object:
    group = call.text("vg")
    found = [
        {"lv": name.removeprefix(f"{group}/"), "vg": group, "lv_size": pool.size, "lv_type": "t"}
        for name, pool in pools_like(call.node, "lvmthin:")
        if name.startswith(f"{group}/")
    ]
    if not found and group not in volume_groups(call.cluster, call.node):
        raise die(f"command '/sbin/lvs {group}' failed: exit code 5")
    return found


@endpoint("GET", "/nodes/{node}/scan/nfs")
def nfs(call: Call) -> object:
    server = call.text("server")
    found = [{"path": path, "options": "*"} for path in _shared(call, f"nfs:{server}:")]
    if not found:
        raise die(f"command '/sbin/showmount --no-headers --exports {server}' failed: exit code 1")
    return found


@endpoint("GET", "/nodes/{node}/scan/cifs")
def cifs(call: Call) -> object:
    server = call.text("server")
    found = [{"share": name, "description": ""} for name in _shared(call, f"cifs:{server}:")]
    if not found:
        raise die(f"do_connect: Connection to {server} failed (Error NT_STATUS_HOST_UNREACHABLE)")
    return found


@endpoint("GET", "/nodes/{node}/scan/pbs")
def pbs(call: Call) -> object:
    server = call.text("server")
    found = [{"store": name} for name in _shared(call, f"pbs:{server}:")]
    if not found:
        where = f"{server}:{call.number('port', 8007)}"
        raise die(f"error fetching datastores - 500 Can't connect to {where} (No route to host)")
    return found


def _shared(call: Call, prefix: str) -> list[str]:
    pools = call.cluster.state.pools
    return sorted(name.removeprefix(prefix) for name in pools if name.startswith(prefix))


def _datasets(call: Call) -> Iterator[tuple[str, int, int]]:
    """File systems in ZFS: each pool, and those that storages are in."""
    for name, pool in pools_like(call.node, "zfs:"):
        used = used_in(call.cluster, call.node, pool)
        for dataset in (name, *_below(call, name)):
            yield dataset, pool.size - used, used


def _below(call: Call, name: str) -> list[str]:
    pools = {
        storage.options.get("pool", "")
        for storage in call.cluster.state.storages.values()
        if storage.type == "zfspool" and storage.is_on(call.node.name)
    }
    return sorted(pool for pool in pools if pool.startswith(f"{name}/"))
