"""`/version`, `/cluster/{status,resources,options,nextid}` and `sdn`: the whole cluster."""

from __future__ import annotations

from collections.abc import Iterator

from stockman_lab.pve import guest_rows, space
from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.errors import bad_parameters, die
from stockman_lab.pve.formats.lists import split_list
from stockman_lab.pve.host import Host
from stockman_lab.pve.releases import release_of
from stockman_lab.pve.schema.schema import Schema
from stockman_lab.pve.schema.shape import Part
from stockman_lab.pve.sections import texts
from stockman_lab.pve.storage import Storage

_KINDS = {"vm": ("qemu", "lxc"), "node": ("node",), "storage": ("storage",), "sdn": ("network",)}


@endpoint("GET", "/cluster/status")
def status(call: Call) -> object:
    state = call.cluster.state
    rows: list[dict[str, object]] = []
    if state.is_clustered:
        rows.append(
            {
                "type": "cluster",
                "id": "cluster",
                "name": state.name,
                "nodes": len(state.hosts),
                "quorate": int(call.cluster.is_quorate),
                "version": len(state.hosts),
            }
        )
    rows += (
        {
            "type": "node",
            "id": f"node/{host.name}",
            "name": host.name,
            "nodeid": host.nodeid if state.is_clustered else 0,
            "ip": host.address,
            "local": int(host is call.host),
            "online": int(host.has_power),
            "level": "",
        }
        for host in state.hosts.values()
    )
    return rows


@endpoint("GET", "/cluster/resources")
def resources(call: Call) -> object:
    """Rows of everything that the caller may see."""
    kind = _KINDS.get(call.text("type"), ())
    rows: list[dict[str, object]] = []
    if not kind or "qemu" in kind:
        rows += _pool_rows(call) if not kind else []
        rows += _guest_rows(call)
    if not kind or "node" in kind:
        rows += (_host_row(call, host) for host in call.cluster.state.hosts.values())
    if not kind or "storage" in kind:
        rows += _storage_rows(call)
    if "network" in kind or not kind:
        rows += _network_rows(call)
    return rows


def _pool_rows(call: Call) -> Iterator[dict[str, object]]:
    for pool in call.cluster.state.resource_pools.values():
        if call.may(f"/pool/{pool.id}", "Pool.Audit"):
            yield {"id": f"/pool/{pool.id}", "type": "pool", "pool": pool.id}


def _guest_rows(call: Call) -> Iterator[dict[str, object]]:
    cluster = call.cluster
    for vmid, guest in sorted(cluster.state.guests.items()):
        if not call.caller.is_root and not call.may(f"/vms/{vmid}", "VM.Audit"):
            continue
        may_see_pool = call.may(f"/pool/{cluster.pool_of(vmid)}", "Pool.Audit")
        yield guest_rows.resource_row(cluster, guest, may_see_pool=may_see_pool)


def _host_row(call: Call, host: Host) -> dict[str, object]:
    is_seen = call.may(f"/nodes/{host.name}", "Sys.Audit")
    return guest_rows.host_row(call.cluster, host, is_seen=is_seen) | {"cgroup-mode": 2}


def _storage_rows(call: Call) -> Iterator[dict[str, object]]:
    taken = space.taken(call.cluster)
    for storage in call.cluster.state.storages.values():
        path = f"/storage/{storage.id}"
        if not storage.is_enabled or not call.may(path, "Datastore.Audit"):
            continue
        for host in call.cluster.state.hosts.values():
            if storage.is_on(host.name):
                yield _storage_row(call, storage, host, taken)


def _storage_row(call: Call, storage: Storage, host: Host, taken: space.Taken) -> dict[str, object]:
    found = space.space(call.cluster, storage, host, taken)
    row: dict[str, object] = {
        "id": f"storage/{host.name}/{storage.id}",
        "storage": storage.id,
        "node": host.name,
        "type": "storage",
        "plugintype": storage.type,
        "shared": int(storage.is_shared),
        "content": ",".join(sorted(storage.content)),
        "status": "available" if host.has_power and found.total else "unknown",
    }
    if host.has_power:
        row |= {"disk": found.used, "maxdisk": found.total}
    return row


def _network_rows(call: Call) -> Iterator[dict[str, object]]:
    """Zones of hosts: bridges that nobody made a zone for are in `localnetwork`."""
    if not call.may("/sdn/zones/localnetwork", "SDN.Audit"):
        return
    for host in call.cluster.state.hosts.values():
        row: dict[str, object] = {
            "node": host.name,
            "status": "ok" if host.has_power else "unknown",
        }
        if call.cluster.is_nine:
            row |= {
                "id": f"network/{host.name}/zone/localnetwork",
                "type": "network",
                "network": "localnetwork",
                "network-type": "zone",
            }
        else:
            row |= {
                "id": f"sdn/{host.name}/localnetwork",
                "type": "sdn",
                "sdn": "localnetwork",
            }
        yield row


@endpoint("GET", "/cluster/sdn/zones")
def zones(call: Call) -> object:
    del call
    return []


_LOWEST, _HIGHEST = 100, 1_000_000


@endpoint("GET", "/version")
def version(call: Call) -> object:
    release = release_of(call.cluster.state.profile)
    return {"release": release.release, "repoid": release.repoid, "version": release.version}


@endpoint("GET", "/nodes/{node}/version")
def node_version(call: Call) -> object:
    return version(call)


@endpoint("GET", "/cluster/nextid")
def next_id(call: Call) -> object:
    """The lowest free id, as a text; nothing is reserved."""
    taken = call.cluster.state.guests
    if call.has("vmid"):
        if call.vmid in taken:
            raise bad_parameters({"vmid": f"VM {call.vmid} already exists"})
        return str(call.vmid)
    lower, upper = _limits(call.cluster.state.options.get("next-id", ""))
    for vmid in range(lower, upper):
        if vmid not in taken:
            return str(vmid)
    raise die(f"unable to get any free VMID in range [{lower}, {upper}]")


def _limits(option: str) -> tuple[int, int]:
    given = dict(part.split("=", 1) for part in option.split(",") if "=" in part)
    return int(given.get("lower", _LOWEST)), int(given.get("upper", _HIGHEST))


_PATH = "/cluster/options"
_PARSED = (
    "crs", "migration", "replication", "next-id", "ha", "notify", "u2f", "webauthn", "tag-style",
    "user-tag-access",
)  # fmt: skip
_FOR_EVERYBODY = ("console", "tag-style")
_MAC_PREFIX = "BC:24:11"
_TRUE = ("1", "on", "yes", "true")


@endpoint("GET", _PATH)
def options(call: Call) -> object:
    """Settings, with those that hold several values taken apart."""
    found = {name: _shown(call, name, value) for name, value in _options_of(call).items()}
    if not call.may("/", "Sys.Audit"):
        found = {name: found[name] for name in _FOR_EVERYBODY if name in found}
    return found | {"allowed-tags": _allowed_tags(call)}


@endpoint("PUT", _PATH)
def change(call: Call) -> object:
    call.cluster.require_quorum("file-datacenter_cfg")
    wanted = call.cluster.state.options | texts(call.params, ("delete",))
    for name in split_list(call.text("delete")):
        wanted.pop(name, None)
    if wanted.get("mac_prefix", "").upper() == _MAC_PREFIX:
        del wanted["mac_prefix"]
    if wanted.get("console") == "applet":
        wanted["console"] = "html5"
    if not wanted.get("crs", "-"):
        del wanted["crs"]
    if "next-id" in wanted:
        _check_range(_pairs(wanted["next-id"], {}))
    call.cluster.state.options = wanted
    call.cluster.changed()
    return None


def _options_of(call: Call) -> dict[str, str]:
    stored = dict(call.cluster.state.options)
    description = stored.get("description", "").rstrip("\n")
    stored["description"] = f"{description}\n" if description else ""
    stored.setdefault("mac_prefix", _MAC_PREFIX)
    return stored


def _shown(call: Call, name: str, value: str) -> object:
    if name == "registered-tags":
        return split_list(value)
    if name not in _PARSED:
        return value
    shape = Schema.of(call.cluster.state.profile).operation("PUT", _PATH).parameters[name].shape
    pairs: dict[str, object] = dict(_pairs(value, shape.keys or {}))
    if "user-allow-list" in pairs:
        pairs["user-allow-list"] = split_list(str(pairs["user-allow-list"]))
    return pairs


def _pairs(text: str, keys: object) -> dict[str, object]:
    """A property string taken apart; the value that stands alone gets its name."""
    known: dict[str, Part] = keys if isinstance(keys, dict) else {}
    bare = next((name for name, part in known.items() if part.shape.bare), "")
    values: dict[str, object] = {}
    for piece in text.split(","):
        key, equals, value = piece.partition("=")
        if not equals:
            key, value = bare, piece
        if key:
            is_flag = key in known and known[key].shape.kind == "boolean"
            values[key] = int(value.lower() in _TRUE) if is_flag else value
    return values


def _check_range(given: dict[str, object]) -> None:
    lower = int(str(given.get("lower", _LOWEST)))
    upper = int(str(given.get("upper", _HIGHEST)))
    if lower > upper:
        raise die(f"lower ({lower}) <= upper ({upper}) boundary rule broken")


def _allowed_tags(call: Call) -> list[str]:
    """Tags that the caller may set: those in sight, those of a list, those of the cluster."""
    stored = call.cluster.state.options
    access = _pairs(stored.get("user-tag-access", ""), {})
    mode = access.get("user-allow", "free")
    allowed_tags: set[str] = set()
    if mode != "none":
        allowed_tags.update(split_list(str(access.get("user-allow-list", ""))))
    if mode in ("free", "existing"):
        for vmid, guest in call.cluster.state.guests.items():
            if call.may(f"/vms/{vmid}", "VM.Audit"):
                allowed_tags.update(split_list(guest.config.values.get("tags", "")))
    if call.may("/", "Sys.Modify"):
        allowed_tags.update(split_list(stored.get("registered-tags", "")))
    return sorted(allowed_tags)
