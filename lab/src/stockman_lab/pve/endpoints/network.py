"""`/nodes/NODE/network`: interfaces of a host, edited in a copy until they are reloaded."""

from __future__ import annotations

from typing import ClassVar

from stockman_lab.pve.access.identity import Caller
from stockman_lab.pve.access.permissions import Authority
from stockman_lab.pve.api.call import Answer, Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.errors import bad_parameters, die
from stockman_lab.pve.formats.lists import split_list
from stockman_lab.pve.host import Host
from stockman_lab.pve.interfaces.options import (
    Interfaces,
    Options,
    canonical,
    changes_of,
    families_of,
    in_order,
    parent_of,
    ports_of,
    with_addresses,
)
from stockman_lab.pve.sections import texts
from stockman_lab.pve.workers import Job, Work, register


def check_new(interfaces: Interfaces, name: str, given: Options) -> None:
    """Refuse what another interface has already: gateways and ports."""
    for key, word in (("gateway", "Default gateway"), ("gateway6", "Default ipv6 gateway")):
        if not given.get(key):
            continue
        for other, options in interfaces.items():
            if other != name and options.get(key):
                raise bad_parameters({key: f"{word} already exists on interface '{other}'."})
    keys = ("bridge_ports", "ovs_ports", "slaves", "ovs_bonds")
    field = next((key for key in keys if given.get(key)), "")
    ports = set(ports_of(given))
    for other, options in interfaces.items():
        for port in ports_of(options):
            if other != name and port in ports:
                raise bad_parameters({field: f"{port} is already used on interface '{other}'."})


def check_addresses(given: Options) -> None:
    """Refuse addresses that are given twice."""
    for suffix in ("", "6"):
        if given.get(f"cidr{suffix}"):
            for key in ("address", "netmask"):
                if given.get(f"{key}{suffix}"):
                    name = f"{key}{suffix}"
                    raise bad_parameters({name: f"{name} conflicts with cidr{suffix}"})


def check_all(interfaces: Interfaces) -> None:
    """Refuse a file that does not fit together."""
    users: dict[str, str] = {}
    for name, options in interfaces.items():
        for port in ports_of(options):
            if users.get(port, name) != name:
                raise die(f"port '{port}' is already used on interface '{users[port]}'")
            users[port] = name
    for name, options in interfaces.items():
        if options["type"] == "bridge":
            _check_bridge(interfaces, name, options)
        if options["type"] == "vlan" and parent_of(name, options)[0] not in interfaces:
            raise die(f"vlan '{name}' - unable to find parent '{parent_of(name, options)[0]}'")


def _check_bridge(interfaces: Interfaces, name: str, options: Options) -> None:
    for port in ports_of(options):
        interface = interfaces.get(port)
        if interface is None:
            if parent_of(port, {})[0] in interfaces:
                continue
            raise die(f"bridge '{name}' - unable to find bridge port '{port}'")
        if "static" in (interface.get("method"), interface.get("method6")):
            raise die(f"iface {port} - ip address can't be set on interface if bridged in {name}")


def may_use_bridge(
    authority: Authority, caller: Caller, zone: str, bridge: str, *privs: str
) -> bool:
    """Whether any of the privileges is held on a bridge, or on one of its VLANs."""
    path = f"/sdn/zones/{zone}/{bridge}"
    vlans = (found for found in authority.state.acl if found.startswith(f"{path}/"))
    return any(authority.allowed(caller, found, *privs, any_of=True) for found in (path, *vlans))


_PATH = "/nodes/{node}/network"
_BRIDGES = ("bridge", "OVSBridge")
_ANY_BRIDGE = ("any_bridge", "any_local_bridge")
_FLAGS = ("autostart", "bridge_vlan_aware", "exists", "active")
_NAMED = ("node", "iface", "delete")
_RELOAD = (2.0, 5.0)
_FIRST = 3
"""The place of the first interface: that of the loopback comes before."""


@register
class Reload(Work):
    """Puts staged edits into force."""

    name: ClassVar[str] = "host.reload-network"

    def begin(self, job: Job) -> float:
        host = job.cluster.host(job.task.node)
        if host.staged is not None:
            host.interfaces, host.staged = host.staged, None
        return job.cluster.around.dice.between(*_RELOAD)


@endpoint("GET", _PATH)
def interfaces(call: Call) -> object:
    """Rows of interfaces, edits included; bridges only where the caller may use or see them."""
    host, text = call.node, call.text("type", "include_sdn")
    rows = [
        _row(host, name) | {"iface": name}
        for name in in_order(_edited(host))
        if _is_wanted(_edited(host)[name]["type"], text) and _may_see(call, host, name)
    ]
    return Answer(rows, changes=changes_of(host))


@endpoint("GET", f"{_PATH}/{{iface}}")
def interface(call: Call) -> object:
    host = call.node
    _require(host, call.text("iface"))
    return _row(host, call.text("iface"))


@endpoint("POST", _PATH)
def create(call: Call) -> object:
    host, name = call.node, call.text("iface")
    existing = _edited(host)
    if name in existing:
        raise bad_parameters({"iface": "interface already exists"})
    given = texts(call.params, _NAMED)
    check_new(existing, name, given)
    check_addresses(given)
    _refuse_open_switch(given)
    _check_vlans(given)
    _stage(host, {**existing, name: _with_methods(given, given)})
    return None


@endpoint("PUT", f"{_PATH}/{{iface}}")
def update(call: Call) -> object:
    host, name = call.node, call.text("iface")
    _require(host, name)
    existing = _edited(host)
    kept = dict(existing[name])
    for key in split_list(call.text("delete")):
        kept.pop(key, None)
        if key in ("cidr", "cidr6"):
            suffix = key.removeprefix("cidr")
            kept.pop(f"netmask{suffix}", None)
            kept.pop(f"address{suffix}", None)
    given = texts(call.params, _NAMED)
    check_addresses(given)
    check_new(existing, name, given)
    _check_vlans(given)
    for suffix in ("", "6"):
        kept.pop(f"cidr{suffix}", None)
    _stage(host, {**existing, name: _with_methods(kept | with_addresses(given), given)})
    return None


@endpoint("DELETE", f"{_PATH}/{{iface}}")
def delete(call: Call) -> object:
    host, name = call.node, call.text("iface")
    _require(host, name)
    _stage(host, {key: value for key, value in _edited(host).items() if key != name})
    return None


@endpoint("PUT", _PATH)
def reload(call: Call) -> object:
    return call.start("srvreload", "networking", Reload.name, {})


def _edited(host: Host) -> dict[str, Options]:
    return host.interfaces if host.staged is None else host.staged


def _require(host: Host, name: str) -> None:
    if name not in _edited(host):
        raise bad_parameters({"iface": "interface does not exist"})


def _refuse_open_switch(given: Options) -> None:
    if given["type"].startswith("OVS"):
        raise die("Open VSwitch is not installed (need package 'openvswitch-switch')")


def _check_vlans(given: Options) -> None:
    if given.get("bridge_vids") and not split_list(given["bridge_vids"]):
        raise bad_parameters({"bridge_vids": "VLAN list items are empty"})


def _with_methods(options: Options, given: Options) -> Options:
    """With the method and the families that the given addresses lead to."""
    has = {
        suffix: bool(given.get(f"cidr{suffix}") or given.get(f"address{suffix}"))
        for suffix in ("", "6")
    }
    families = [f"inet{suffix}" for suffix, is_there in has.items() if is_there] or ["inet"]
    return options | {
        "families": " ".join(families),
        "method": "static" if has[""] else "manual",
        "method6": "static" if has["6"] else "manual",
    }


def _stage(host: Host, wanted: dict[str, Options]) -> None:
    canonicals = {name: canonical(name, options) for name, options in wanted.items()}
    check_all(canonicals)
    for options in list(canonicals.values()):
        if options["type"] == "bond":
            for port in ports_of(options):
                canonicals[port]["autostart"] = "1"
    host.staged = canonicals


def _is_wanted(kind: str, wanted: str) -> bool:
    return wanted in ("include_sdn", kind) or (wanted in _ANY_BRIDGE and kind in _BRIDGES)


def _may_see(call: Call, host: Host, name: str) -> bool:
    if call.caller.is_root or _edited(host)[name]["type"] not in _BRIDGES:
        return True
    privileges = ("SDN.Audit", "SDN.Use")
    return may_use_bridge(call.authority, call.caller, "localnetwork", name, *privileges)


def _row(host: Host, name: str) -> dict[str, object]:
    edited = _edited(host)
    options = canonical(name, edited[name])
    options.pop("active", None)
    if name in host.interfaces and (options["type"] == "eth" or options.get("autostart") == "1"):
        options["active"] = "1"
    if options["type"] == "vlan":
        below = edited.get(parent_of(name, options)[0], {})
        options |= {"exists": below["exists"]} if "exists" in below else {}
    row: dict[str, object] = {
        key: int(value) if key in _FLAGS else value for key, value in options.items()
    }
    row["families"] = families_of(options)
    row["priority"] = _FIRST + in_order(edited).index(name)
    return row
