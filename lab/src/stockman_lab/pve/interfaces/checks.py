"""What is wrong with a set of interfaces, told before it is written."""

from __future__ import annotations

from ipaddress import IPv6Address

from stockman_lab.pve.errors import bad_parameters, die
from stockman_lab.pve.interfaces.options import Interfaces, Options, parent_of, ports_of

_HIGHEST_VLAN = 4094
_USUAL_MTU = 1500
_PARENTS = ("eth", "bridge", "bond", "vlan")


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
    """Refuse addresses that are given twice, or that no host may have."""
    for suffix in ("", "6"):
        if given.get(f"cidr{suffix}"):
            for key in ("address", "netmask"):
                if given.get(f"{key}{suffix}"):
                    name = f"{key}{suffix}"
                    raise bad_parameters({name: f"{name} conflicts with cidr{suffix}"})
    text = given.get("cidr6", "").rpartition("/")[0] or given.get("address6", "")
    kind = _unfit_kind(text)
    if kind:
        reason = f"{text} with type '{kind}', cannot be used as host IPv6 address."
        raise bad_parameters({"address": reason})


def check_all(interfaces: Interfaces) -> None:
    """Refuse a file that does not fit together."""
    users: dict[str, str] = {}
    for name, options in interfaces.items():
        for port in ports_of(options):
            if users.get(port, name) != name:
                raise die(f"port '{port}' is already used on interface '{users[port]}'")
            users[port] = name
    for name, options in interfaces.items():
        match options["type"]:
            case "bond":
                _check_bond(interfaces, name, options)
            case "vlan":
                _check_vlan(interfaces, name, options)
            case "bridge":
                _check_bridge(interfaces, name, options)
            case _:
                pass


def _check_bond(interfaces: Interfaces, name: str, options: Options) -> None:
    ports = ports_of(options)
    for port in ports:
        interface = interfaces.get(port)
        if interface is None:
            raise die(f"bond '{name}' - unable to find slave '{port}'")
        if interface["type"] not in ("eth", "bond"):
            kind = interface["type"]
            raise die(
                f"bond '{name}' - wrong interface type on slave '{port}' "
                f"('{kind}' != 'eth or bond')"
            )
        _check_mtu(interfaces, name, port)
    if options.get("bond-primary") and options["bond-primary"] not in ports:
        raise die(f"bond '{name}' - bond-primary interface is not a slave")


def _check_vlan(interfaces: Interfaces, name: str, options: Options) -> None:
    parent, number = parent_of(name, options)
    if not parent:
        raise die("missing vlan-raw-device option")
    if not number:
        raise die("missing vlan-id option")
    if int(number) > _HIGHEST_VLAN:
        raise die(f"vlan '{name}' - vlan-id {number} should be <= 4094")
    interface = interfaces.get(parent)
    if interface is None:
        raise die(f"vlan '{name}' - unable to find parent '{parent}'")
    if interface["type"] not in _PARENTS:
        kind = interface["type"]
        raise die(
            f"vlan '{name}' - wrong interface type on parent '{parent}' "
            f"('{kind}' != 'eth|bond|bridge|vlan' )"
        )
    _check_mtu(interfaces, parent, name)


def _check_bridge(interfaces: Interfaces, name: str, options: Options) -> None:
    for port in ports_of(options):
        interface = interfaces.get(port)
        if interface is None:
            if parent_of(port, {})[0] in interfaces:
                continue
            raise die(f"bridge '{name}' - unable to find bridge port '{port}'")
        if "static" in (interface.get("method"), interface.get("method6")):
            raise die(f"iface {port} - ip address can't be set on interface if bridged in {name}")
        _check_mtu(interfaces, port, name)


def _check_mtu(interfaces: Interfaces, parent: str, child: str) -> None:
    lower = interfaces[child].get("mtu")
    if not lower:
        return
    upper = interfaces[parent].get("mtu")
    if upper is None:
        upper = lower if interfaces[parent]["type"] == "bond" else str(_USUAL_MTU)
    if int(upper) < int(lower):
        raise die(f"interface '{parent}' - mtu {upper} is lower than '{child}' - mtu {lower}")


def _unfit_kind(text: str) -> str:
    if not text:
        return ""
    address = IPv6Address(text)
    if address.is_multicast:
        return "MULTICAST"
    if address.is_unspecified:
        return "UNSPECIFIED"
    return "LOOPBACK" if address.is_loopback else ""
