"""`/nodes/NODE/{config,dns,time,hosts}`: settings of one host."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.errors import bad_parameters
from stockman_lab.pve.formats.lists import split_list
from stockman_lab.pve.host import Host
from stockman_lab.pve.sections import refuse_changed, text_digest, texts

_NUMBERS = ("ballooning-target", "startall-onboot-delay")


@endpoint("GET", "/nodes/{node}/config")
def config(call: Call) -> object:
    found = _config(call.node)
    if not call.has("property"):
        return found
    name = call.text("property")
    return {name: found[name]} if name in found else {}


@endpoint("PUT", "/nodes/{node}/config")
def set_config(call: Call) -> object:
    host = call.node
    call.cluster.require_quorum(f"file-nodes_{host.name}_config")
    refuse_changed(_config_digest(host), call.text("digest"))
    host.options |= texts(call.params, ("node", "digest", "delete"))
    for name in split_list(call.text("delete")):
        host.options.pop(name, None)
    call.cluster.changed()
    return None


@endpoint("GET", "/nodes/{node}/dns")
def dns(call: Call) -> object:
    return dict(call.node.dns)


@endpoint("PUT", "/nodes/{node}/dns")
def set_dns(call: Call) -> object:
    call.node.dns = texts(call.params, ("node",))
    return None


@endpoint("GET", "/nodes/{node}/time")
def time(call: Call) -> object:
    host = call.node
    now = int(call.now + host.clock_error)
    offset = datetime.fromtimestamp(now, tz=_zone(host.time_zone)).utcoffset()
    shift = int(offset.total_seconds()) if offset is not None else 0
    return {"timezone": host.time_zone, "time": now, "localtime": now + shift}


@endpoint("PUT", "/nodes/{node}/time")
def set_time_zone(call: Call) -> object:
    name = call.text("timezone")
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise bad_parameters({"timezone": f"No such timezone: '{name}'"}) from error
    call.node.time_zone = name
    return None


@endpoint("GET", "/nodes/{node}/hosts")
def hosts(call: Call) -> object:
    text = call.node.hosts_file
    return {"data": text, "digest": text_digest(text)}


@endpoint("POST", "/nodes/{node}/hosts")
def set_hosts(call: Call) -> object:
    host = call.node
    refuse_changed(text_digest(host.hosts_file), call.text("digest"))
    host.hosts_file = call.text("data")
    return None


def _zone(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC


def _config(host: Host) -> dict[str, object]:
    values: dict[str, object] = {
        name: int(value) if name in _NUMBERS else value for name, value in host.options.items()
    }
    description = host.options.get("description", "").rstrip("\n")
    values.pop("description", None)
    if description:
        values["description"] = f"{description}\n"
    return values | {"digest": _config_digest(host)}


def _config_digest(host: Host) -> str:
    lines = (f"{name}: {value}" for name, value in sorted(host.options.items()))
    return text_digest("\n".join(lines))
