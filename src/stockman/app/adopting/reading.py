"""Values of a machine configuration, whichever of its forms they stand in."""

from __future__ import annotations

import re
from collections.abc import Iterable
from ipaddress import AddressValueError, IPv4Address, IPv4Network, NetmaskValueError
from urllib.parse import urlsplit

from stockman.app.adopting.sight import SeenMachine

_GATEWAY = re.compile(r"(?P<route>.*routes\[\d+\]\.)gateway")
_ADDRESS = re.compile(r"(.*: addresses\[\d+\]\.address|machine\.network\..*addresses\[\d+\])")
_VIP = re.compile(r"Layer2VIPConfig (?P<address>[0-9.]+): link|machine\.network\..*\.vip\.ip")
_MTU = re.compile(r"(LinkConfig|VLANConfig) \S+: mtu|machine\.network\.interfaces\[0\]\.mtu")


def value(machine: SeenMachine, *paths: str) -> str:
    """The first of some values that is there. Empty: none is."""
    known = machine.values.values
    return next((str(known[path]) for path in paths if path in known), "")


def listed(machine: SeenMachine, path: str, field: str = "") -> list[str]:
    """The items of a list, or a field of each."""
    form = re.compile(rf"{re.escape(path)}\[[^\]]*\]{re.escape(field)}")
    return [str(one) for name, one in machine.values.values.items() if form.fullmatch(name)]


def mapped(machine: SeenMachine, *paths: str) -> dict[str, str]:
    """The entries of a mapping of texts, whose keys may hold dots."""
    for path in paths:
        prefix = f"{path}."
        found = {
            name.removeprefix(prefix): str(one)
            for name, one in machine.values.values.items()
            if name.startswith(prefix)
        }
        if found:
            return found
    return {}


def agreed(found: Iterable[list[str]]) -> list[str]:
    """What all say; nothing where they do not agree."""
    known = list(found)
    return known[0] if known and all(one == known[0] for one in known) else []


def name_servers(machine: SeenMachine) -> list[str]:
    """Name servers that the configuration gives the machine."""
    new = listed(machine, "ResolverConfig: nameservers", ".address")
    return new or listed(machine, "machine.network.nameservers")


def api_host(machine: SeenMachine) -> str:
    """The host of the endpoint. Empty: there is none."""
    return urlsplit(endpoint(machine)).hostname or ""


def endpoint(machine: SeenMachine) -> str:
    """How machines reach the API. Empty: it is not said."""
    return value(machine, "cluster.controlPlane.endpoint", "KubeClusterConfig: endpoint")


def shared_address(machine: SeenMachine) -> str:
    """The address that controllers share. Empty: none."""
    for path, one in machine.values.values.items():
        if found := _VIP.fullmatch(path):
            return found["address"] or str(one)
    return ""


def gateway(machine: SeenMachine, network: IPv4Network) -> str:
    """Where the default route leads. Empty: the configuration does not say."""
    known = machine.values.values
    for path, one in known.items():
        if (found := _GATEWAY.fullmatch(path)) is None:
            continue
        route = found["route"]
        target = known.get(f"{route}network", known.get(f"{route}destination", "0.0.0.0/0"))
        if target == "0.0.0.0/0" and is_inside(str(one), network):
            return str(one)
    return ""


def is_static(machine: SeenMachine) -> bool:
    """Whether its address is part of the configuration."""
    own = str(machine.address)
    return any(
        str(one).partition("/")[0] == own
        for path, one in machine.values.values.items()
        if _ADDRESS.fullmatch(path)
    )


def mtu(machine: SeenMachine) -> int | None:
    """Of its link. None: the configuration does not say."""
    found = (one for path, one in machine.values.values.items() if _MTU.fullmatch(path))
    return next((one for one in found if isinstance(one, int)), None)


def is_inside(text: str, network: IPv4Network) -> bool:
    """Whether a text is an address of a network."""
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
