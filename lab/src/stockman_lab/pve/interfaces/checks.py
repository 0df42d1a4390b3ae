"""What is wrong with a set of interfaces, told before it is written."""

from __future__ import annotations

from stockman_lab.pve.errors import bad_parameters, die
from stockman_lab.pve.interfaces.options import Interfaces, Options, parent_of, ports_of


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
