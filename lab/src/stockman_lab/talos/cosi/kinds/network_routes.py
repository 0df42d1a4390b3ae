"""Routes of a machine."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING

from stockman_lab.talos.cosi.facts import bare, family_of
from stockman_lab.talos.cosi.kinds.network_links import LOOPBACK
from stockman_lab.talos.cosi.registry import Contents, kind
from stockman_lab.talos.state import AddressState, RouteState

if TYPE_CHECKING:
    from stockman_lab.talos.machine import Machine


def _family(route: RouteState) -> str:
    return family_of(route.gateway or route.destination)


def _id(route: RouteState) -> str:
    family = _family(route)
    link = f"{route.link}/" if family == "inet6" else ""
    return f"{link}{family}/{route.gateway}/{route.destination}/{route.priority}"


@kind("RouteStatuses.net.talos.dev", "network.RouteStatusController")
def route_statuses(machine: Machine) -> Contents:
    network = machine.state.network
    indices = {link.name: link.index for link in network.links}
    contents: dict[str, dict[str, object]] = {}
    for route in network.routes:
        contents[_id(route)] = {
            "family": _family(route),
            "dst": route.destination,
            "gateway": route.gateway,
            "outLinkIndex": indices.get(route.link, 0),
            "outLinkName": route.link,
            "table": "main",
            "priority": route.priority,
            "scope": "global" if route.gateway else "link",
            "type": "unicast",
            "protocol": "static",
        }
    for address in network.addresses:
        contents |= _of_address(address, indices.get(address.link, 0))
    return contents


def _of_address(address: AddressState, index: int) -> dict[str, dict[str, object]]:
    """The routes that the kernel makes of an address by itself."""
    held = ipaddress.ip_interface(address.address)
    if held.version != 4 or address.link == LOOPBACK:
        return {}
    own = bare(address.address)
    common: dict[str, object] = {
        "family": "inet4",
        "src": own,
        "outLinkIndex": index,
        "outLinkName": address.link,
        "protocol": "kernel",
    }
    local = {**common, "dst": f"{own}/32", "table": "local", "scope": "host", "type": "local"}
    routes: dict[str, dict[str, object]] = {f"local/inet4//{own}/32/0": local}
    if held.network.prefixlen < held.max_prefixlen:
        subnet = str(held.network)
        routes[f"inet4//{subnet}/0"] = {
            **common,
            "dst": subnet,
            "table": "main",
            "scope": "link",
            "type": "unicast",
        }
    return routes
