"""Values of a machine configuration, whichever of its forms they stand in."""

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
    """The first of some values that is there. Empty: none is."""
    known = machine.values.values
    return next((str(known[path]) for path in paths if path in known), "")


def list_values(machine: RunningMachine, path: str, field: str = "") -> list[str]:
    """The items of a list, or a field of each."""
    form = re.compile(rf"{re.escape(path)}\[[^\]]*\]{re.escape(field)}")
    return [str(one) for name, one in machine.values.values.items() if form.fullmatch(name)]


def mapping_values(machine: RunningMachine, *paths: str) -> dict[str, str]:
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


def common_value(found: Iterable[list[str]]) -> list[str]:
    """What all say; nothing where they do not agree."""
    known = list(found)
    return known[0] if known and all(one == known[0] for one in known) else []


def name_servers(machine: RunningMachine) -> list[str]:
    """Name servers that the configuration gives the machine."""
    new = list_values(machine, "ResolverConfig: nameservers", ".address")
    return new or list_values(machine, "machine.network.nameservers")


def api_host(machine: RunningMachine) -> str:
    """The host of the endpoint. Empty: there is none."""
    return urlsplit(endpoint(machine)).hostname or ""


def endpoint(machine: RunningMachine) -> str:
    """How machines reach the API. Empty: it is not said."""
    return first_value(machine, "cluster.controlPlane.endpoint", "KubeClusterConfig: endpoint")


def shared_address(machine: RunningMachine) -> str:
    """The address that controllers share. Empty: none."""
    for path, one in machine.values.values.items():
        if found := _VIP.fullmatch(path):
            return found["address"] or str(one)
    return ""


def gateway(machine: RunningMachine, network: IPv4Network) -> str:
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


def is_static(machine: RunningMachine) -> bool:
    """Whether its address is part of the configuration."""
    own = str(machine.address)
    return any(
        str(one).partition("/")[0] == own
        for path, one in machine.values.values.items()
        if _ADDRESS.fullmatch(path)
    )


def mtu(machine: RunningMachine) -> int | None:
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
