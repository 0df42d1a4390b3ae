"""The network of machines in our words, as far as it has their form."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Interface

from stockman.talos.imports.configurations import V1ALPHA1_KEY, Configuration, value_at
from stockman.talos.imports.foreign import ForeignNode, ForeignPatch, build_document
from stockman.talos.machine.inputs import Document

_MAC = re.compile(r"[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}")
_LINK_FIELDS = frozenset({"addresses", "routes", "mtu", "vip", "dhcp"})
_SMALLEST, _LARGEST = 1450, 9000


@dataclass(slots=True, frozen=True)
class PlainLink:
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


def plain_link(node: ForeignNode, api: str) -> PlainLink | None:
    """The link of a node, if it is one card with one address, one route and nothing else."""
    for index, device in enumerate(node.devices):
        where, vlan = _device_with_address(device, node.address)
        if where is None:
            continue
        mac = _selector_mac(_mapping(device.get("deviceSelector")))
        own = set(device) - {"deviceSelector"}
        simple = mac is not None and own <= (_LINK_FIELDS if vlan is None else {"vlans", "dhcp"})
        if not simple or mac is None or not _is_plain(where, node, api, is_vlan=vlan is not None):
            return None
        interface = _interface(_texts(where, "addresses")[0])
        if interface is None:
            return None
        (route,) = _mappings(where, "routes")
        mtu = where.get("mtu", 1500)
        return PlainLink(
            mac=mac,
            network=str(interface.network),
            gateway=str(route["gateway"]),
            mtu=mtu if isinstance(mtu, int) else 1500,
            vlan=vlan,
            index=index,
        )
    return None


def _is_plain(where: Document, node: ForeignNode, api: str, *, is_vlan: bool) -> bool:
    allowed = _LINK_FIELDS | ({"vlanId"} if is_vlan else set())
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


def _device_with_address(device: Document, address: str) -> tuple[Document | None, int | None]:
    """The device or the VLAN on it that has an address, and the VLAN's number."""
    if _has_address(device, address):
        return device, None
    vlans = _mappings(device, "vlans")
    if len(vlans) == 1 and _has_address(vlans[0], address):
        number = vlans[0].get("vlanId")
        return vlans[0], number if isinstance(number, int) else None
    return None, None


def _has_address(where: Document, address: str) -> bool:
    return any(one.startswith(f"{address}/") for one in _texts(where, "addresses") if address)


def any_mac(node: ForeignNode) -> str:
    """A MAC address of the card, or of the first card of the bond, that has the node's address.

    Where no link has it, of the first that asks DHCP for one. Empty: none is known.
    """
    addressed = [
        device
        for device in node.devices
        if _has_address(device, node.address)
        or any(_has_address(one, node.address) for one in _mappings(device, "vlans"))
    ]
    asking = [device for device in node.devices if device.get("dhcp") is True]
    for device in addressed or asking:
        selectors = [
            _mapping(device.get("deviceSelector")),
            *_mappings(_mapping(device.get("bond")), "deviceSelectors"),
        ]
        found = next((mac for one in selectors if (mac := _mac_pattern(one))), "")
        if found:
            return found
    return ""


def find_network(configuration: Configuration, address: str) -> tuple[str, str]:
    """Network and gateway of the link that has an address; empty where that is not known."""
    for part in _iter_sections(list(configuration.values())):
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


def _iter_sections(value: object) -> Iterator[Document]:
    if isinstance(value, dict):
        yield value
        for item in value.values():
            yield from _iter_sections(item)
    elif isinstance(value, list):
        for item in value:
            yield from _iter_sections(item)


def _selector_mac(selector: Document) -> str | None:
    """The MAC address of a selector that asks for nothing else."""
    return _mac_pattern(selector) if len(selector) == 1 else None


def _mac_pattern(selector: Document) -> str | None:
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


LINK_KINDS = frozenset(
    {"LinkAliasConfig", "LinkConfig", "VLANConfig", "DHCPv4Config", "Layer2VIPConfig"}
)
"""Kinds of documents that we make for the link with a node's address."""
_ALL_LINK_KINDS = LINK_KINDS | {"BondConfig", "BridgeConfig", "WireguardConfig", "DHCPv6Config"}
_LABEL = "networkInterfaces"


def link_patches(
    node: ForeignNode, link: PlainLink | None, theirs: Configuration, ours: Configuration
) -> list[ForeignPatch]:
    """Patches for the links of a node; `link` is the one that keys say, if they do."""
    is_old = not any(one.get("kind") == "HostnameConfig" for one in node.base)
    found = (
        _interface_patches(node, link, ours)
        if is_old
        else _document_patches(node, link, theirs, ours)
    )
    at = node.devices_at if node.devices else node.at
    return [
        ForeignPatch(_LABEL, "node", (-2, number), build_document(one, at)) for number, one in found
    ]


def _interface_patches(
    node: ForeignNode, link: PlainLink | None, ours: Configuration
) -> list[tuple[int, Document]]:
    """Up to contract 1.11: a list in the v1alpha1 document, which patches add to."""
    left = [one for at, one in enumerate(node.devices) if link is None or at != link.index]
    found: list[Document] = []
    if link is None and value_at(ours, V1ALPHA1_KEY, ("machine", "network", "interfaces")):
        found.append({"machine": {"network": {"interfaces": {"$patch": "delete"}}}})
    if left:
        found.append({"machine": {"network": {"interfaces": left}}})
    return list(enumerate(found))


def _document_patches(
    node: ForeignNode, link: PlainLink | None, theirs: Configuration, ours: Configuration
) -> list[tuple[int, Document]]:
    mine = _link_names(node, link) if link is not None else set()
    found = [
        one
        for one in node.base
        if one.get("kind") in _ALL_LINK_KINDS
        and str(one.get("name")) not in mine
        and str(one.get("link")) not in mine
    ]
    if link is None:
        found += [
            {"apiVersion": "v1alpha1", "kind": kind, "name": name, "$patch": "delete"}
            for kind, name in ours
            if kind in LINK_KINDS and (kind, name) not in theirs
        ]
    return list(enumerate(found))


def _link_names(node: ForeignNode, link: PlainLink) -> set[str]:
    """Names that the other tool has for the link that keys say."""
    aliases = [one for one in node.base if one.get("kind") == "LinkAliasConfig"]
    name = next(
        (str(one["name"]) for one in aliases if link.mac in str(one["selector"]).lower()), ""
    )
    return {name} if link.vlan is None else {name, f"{name}.{link.vlan}"}
