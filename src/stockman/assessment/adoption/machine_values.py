"""Values of a machine configuration, read from any of the documents that may hold them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from ipaddress import AddressValueError, IPv4Address, IPv4Network, NetmaskValueError
from urllib.parse import urlsplit

from stockman.assessment.adoption.cluster import RunningMachine

_GATEWAY = re.compile(r"(?P<route>.*routes\[\d+\]\.)gateway")
_ADDRESS = re.compile(r"(.*: addresses\[\d+\]\.address|machine\.network\..*addresses\[\d+\])")
_VIP = re.compile(r"Layer2VIPConfig (?P<address>[0-9.]+): link|machine\.network\..*\.vip\.ip")
_MTU = re.compile(r"(LinkConfig|VLANConfig) \S+: mtu|machine\.network\.interfaces\[0\]\.mtu")


def first_value(machine: RunningMachine, *paths: str) -> str:
    """Return the first of several values that is set. Empty: none is set."""
    known = machine.values.values
    return next((str(known[path]) for path in paths if path in known), "")


def list_values(machine: RunningMachine, path: str, field: str = "") -> list[str]:
    """Return the items of a list, or one field of each item."""
    form = re.compile(rf"{re.escape(path)}\[[^\]]*\]{re.escape(field)}")
    return [str(value_) for name, value_ in machine.values.values.items() if form.fullmatch(name)]


def mapping_values(machine: RunningMachine, *paths: str) -> dict[str, str]:
    """Return the entries of a mapping of strings, whose keys may contain dots."""
    for path in paths:
        prefix = f"{path}."
        entries = {
            name.removeprefix(prefix): str(entry)
            for name, entry in machine.values.values.items()
            if name.startswith(prefix)
        }
        if entries:
            return entries
    return {}


def common_value(lists: Iterable[list[str]]) -> list[str]:
    """Return the value that all machines share. Empty: they differ."""
    known = list(lists)
    return known[0] if known and all(values == known[0] for values in known) else []


def name_servers(machine: RunningMachine) -> list[str]:
    """Return the name servers in the machine configuration."""
    new = list_values(machine, "ResolverConfig: nameservers", ".address")
    return new or list_values(machine, "machine.network.nameservers")


def api_host(machine: RunningMachine) -> str:
    """Return the host of the cluster endpoint. Empty: it is not set."""
    return urlsplit(endpoint(machine)).hostname or ""


def endpoint(machine: RunningMachine) -> str:
    """Return the URL of the cluster endpoint. Empty: it is not set."""
    return first_value(machine, "cluster.controlPlane.endpoint", "KubeClusterConfig: endpoint")


def shared_address(machine: RunningMachine) -> str:
    """Return the virtual IP of the controllers. Empty: there is none."""
    for path, address_ in machine.values.values.items():
        if match := _VIP.fullmatch(path):
            return match["address"] or str(address_)
    return ""


def gateway(machine: RunningMachine, network: IPv4Network) -> str:
    """Return the gateway of the default route. Empty: it is not configured."""
    known = machine.values.values
    for path, route_value in known.items():
        if (match := _GATEWAY.fullmatch(path)) is None:
            continue
        route = match["route"]
        target = known.get(f"{route}network", known.get(f"{route}destination", "0.0.0.0/0"))
        if target == "0.0.0.0/0" and is_inside(str(route_value), network):
            return str(route_value)
    return ""


def is_static(machine: RunningMachine) -> bool:
    """Whether the machine's address is part of its configuration."""
    own = str(machine.address)
    return any(
        str(value_).partition("/")[0] == own
        for path, value_ in machine.values.values.items()
        if _ADDRESS.fullmatch(path)
    )


def mtu(machine: RunningMachine) -> int | None:
    """Return the MTU of the machine's link. None: it is not configured."""
    mtus = (text for path, text in machine.values.values.items() if _MTU.fullmatch(path))
    return next((text for text in mtus if isinstance(text, int)), None)


def is_inside(text: str, network: IPv4Network) -> bool:
    """Whether a text is an address inside a network."""
    return is_address(text) and IPv4Address(text) in network


def is_address(text: str) -> bool:
    """Whether a text is an IPv4 address."""
    try:
        IPv4Address(text)
    except AddressValueError:
        return False
    return True


def is_network(text: str) -> bool:
    """Whether a text is an IPv4 network."""
    try:
        IPv4Network(text)
    except (AddressValueError, NetmaskValueError, ValueError):
        return False
    return True
