"""The network of machines in our words, as far as it has their form."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Interface

from stockman.talos.imports.configurations import Configuration
from stockman.talos.imports.foreign import ForeignNode
from stockman.talos.machine.facts import Document

_MAC = re.compile(r"[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}")
_OF_LINK = frozenset({"addresses", "routes", "mtu", "vip", "dhcp"})
_SMALLEST, _LARGEST = 1450, 9000


@dataclass(slots=True, frozen=True)
class Link:
    """The link with a node's address, as our keys can say it."""

    mac: str
    network: str
    gateway: str
    mtu: int
    vlan: int | None
    index: int
    """Which device it is."""

    @property
    def shared(self) -> tuple[str, str, int | None]:
        """What all nodes have in common."""
        return self.network, self.gateway, self.vlan


def plain_link(node: ForeignNode, api: str) -> Link | None:
    """The link of a node, if it is one card with one address, one route and nothing else."""
    for index, device in enumerate(node.devices):
        where, vlan = _addressed(device, node.address)
        if where is None:
            continue
        mac = _mac_of(_mapping(device.get("deviceSelector")))
        own = set(device) - {"deviceSelector"}
        simple = mac is not None and own <= (_OF_LINK if vlan is None else {"vlans", "dhcp"})
        if not simple or mac is None or not _fits(where, node, api, is_vlan=vlan is not None):
            return None
        interface = _interface(_texts(where, "addresses")[0])
        if interface is None:
            return None
        (route,) = _mappings(where, "routes")
        mtu = where.get("mtu", 1500)
        return Link(
            mac=mac,
            network=str(interface.network),
            gateway=str(route["gateway"]),
            mtu=mtu if isinstance(mtu, int) else 1500,
            vlan=vlan,
            index=index,
        )
    return None


def _fits(where: Document, node: ForeignNode, api: str, *, is_vlan: bool) -> bool:
    allowed = _OF_LINK | ({"vlanId"} if is_vlan else set())
    routes, addresses = _mappings(where, "routes"), _texts(where, "addresses")
    mtu = where.get("mtu", 1500)
    return (
        set(where) - {"deviceSelector"} <= allowed
        and where.get("dhcp") in (None, False)
        and len(addresses) == len(routes) == 1
        and set(routes[0]) <= {"network", "gateway"}
        and routes[0].get("network") in (None, "", "0.0.0.0/0")
        and isinstance(routes[0].get("gateway"), str)
        and isinstance(mtu, int)
        and _SMALLEST <= mtu <= _LARGEST
        and where.get("vip") == ({"ip": api} if node.is_controller else None)
    )


def _addressed(device: Document, address: str) -> tuple[Document | None, int | None]:
    """The device or the VLAN on it that has an address, and the VLAN's number."""
    if _has(device, address):
        return device, None
    vlans = _mappings(device, "vlans")
    if len(vlans) == 1 and _has(vlans[0], address):
        number = vlans[0].get("vlanId")
        return vlans[0], number if isinstance(number, int) else None
    return None, None


def _has(where: Document, address: str) -> bool:
    return any(one.startswith(f"{address}/") for one in _texts(where, "addresses") if address)


def any_mac(node: ForeignNode) -> str:
    """A MAC address of the card, or of the first card of the bond, that has the node's address.

    Where no link has it, of the first that asks DHCP for one. Empty: none is known.
    """
    addressed = [
        device
        for device in node.devices
        if _has(device, node.address)
        or any(_has(one, node.address) for one in _mappings(device, "vlans"))
    ]
    asking = [device for device in node.devices if device.get("dhcp") is True]
    for device in addressed or asking:
        selectors = [
            _mapping(device.get("deviceSelector")),
            *_mappings(_mapping(device.get("bond")), "deviceSelectors"),
        ]
        found = next((mac for one in selectors if (mac := _mac_in(one))), "")
        if found:
            return found
    return ""


def network_of(configuration: Configuration, address: str) -> tuple[str, str]:
    """Network and gateway of the link that has an address; empty where that is not known."""
    for part in _parts(list(configuration.values())):
        addresses = part.get("addresses")
        for one in addresses if isinstance(addresses, list) else []:
            text = one.get("address") if isinstance(one, dict) else one
            if address and isinstance(text, str) and text.startswith(f"{address}/"):
                interface = _interface(text)
                return ("", "") if interface is None else (str(interface.network), _gateway(part))
    return "", ""


def _interface(text: str) -> IPv4Interface | None:
    try:
        return IPv4Interface(text)
    except ValueError:
        return None


def _gateway(part: Document) -> str:
    for route in _mappings(part, "routes"):
        if route.get("network") in (None, "", "0.0.0.0/0") and not route.get("destination"):
            return str(route.get("gateway", ""))
    return ""


def _parts(value: object) -> Iterator[Document]:
    if isinstance(value, dict):
        yield value
        for item in value.values():
            yield from _parts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _parts(item)


def _mac_of(selector: Document) -> str | None:
    """The MAC address of a selector that asks for nothing else."""
    return _mac_in(selector) if len(selector) == 1 else None


def _mac_in(selector: Document) -> str | None:
    for key in ("permanentAddr", "hardwareAddr"):
        value = selector.get(key)
        if isinstance(value, str) and _MAC.fullmatch(value):
            return value.lower()
    return None


def _mapping(value: object) -> Document:
    return value if isinstance(value, dict) else {}


def _mappings(value: Document, key: str) -> list[Document]:
    found = value.get(key)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _texts(value: Document, key: str) -> list[str]:
    found = value.get(key)
    return [str(one) for one in found] if isinstance(found, list) else []
