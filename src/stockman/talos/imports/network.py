"""Read the network of foreign machines as our keys, where they can express it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Interface

from stockman.model.pattern import pattern
from stockman.talos.imports.configurations import V1ALPHA1_KEY, Configuration, value_at
from stockman.talos.imports.foreign import ForeignNode, ForeignPatch, build_document
from stockman.talos.machine.inputs import Document

_MAC = pattern(r"[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}")
_LINK_FIELDS = frozenset({"addresses", "routes", "mtu", "vip", "dhcp"})
_SMALLEST, _LARGEST = 1450, 9000


@dataclass(slots=True, frozen=True)
class PlainLink:
    """The link with the node's address, if our keys can express it."""

    mac: str
    network: str
    gateway: str
    mtu: int
    vlan: int | None
    index: int
    """Index of the device."""

    @property
    def shared(self) -> tuple[str, str, int | None]:
        """The values that all nodes share."""
        return self.network, self.gateway, self.vlan


def plain_link(node: ForeignNode, api: str) -> PlainLink | None:
    """Return the link of a node if it is one card with one address, one route and nothing else."""
    for index, device in enumerate(node.devices):
        section, vlan = _device_with_address(device, node.address)
        if section is None:
            continue
        mac = _selector_mac(_mapping(device.get("deviceSelector")))
        own = set(device) - {"deviceSelector"}
        simple = mac is not None and own <= (_LINK_FIELDS if vlan is None else {"vlans", "dhcp"})
        if not simple or mac is None or not _is_plain(section, node, api, is_vlan=vlan is not None):
            return None
        interface = _interface(_texts(section, "addresses")[0])
        if interface is None:
            return None
        (route,) = _mappings(section, "routes")
        mtu = section.get("mtu", 1500)
        return PlainLink(
            mac=mac,
            network=str(interface.network),
            gateway=str(route["gateway"]),
            mtu=mtu if isinstance(mtu, int) else 1500,
            vlan=vlan,
            index=index,
        )
    return None


def _is_plain(section: Document, node: ForeignNode, api: str, *, is_vlan: bool) -> bool:
    allowed = _LINK_FIELDS | ({"vlanId"} if is_vlan else set())
    routes, addresses = _mappings(section, "routes"), _texts(section, "addresses")
    mtu = section.get("mtu", 1500)
    return (
        set(section) - {"deviceSelector"} <= allowed
        and section.get("dhcp") in (None, False)
        and len(addresses) == len(routes) == 1
        and set(routes[0]) <= {"network", "gateway"}
        and routes[0].get("network") in (None, "", "0.0.0.0/0")
        and isinstance(routes[0].get("gateway"), str)
        and isinstance(mtu, int)
        and _SMALLEST <= mtu <= _LARGEST
        and section.get("vip") == ({"ip": api} if node.is_controller else None)
    )


def _device_with_address(device: Document, address: str) -> tuple[Document | None, int | None]:
    """Return the device, or its VLAN, that has an address, and the VLAN's number."""
    if _has_address(device, address):
        return device, None
    vlans = _mappings(device, "vlans")
    if len(vlans) == 1 and _has_address(vlans[0], address):
        number = vlans[0].get("vlanId")
        return vlans[0], number if isinstance(number, int) else None
    return None, None


def _has_address(section: Document, address: str) -> bool:
    return any(text.startswith(f"{address}/") for text in _texts(section, "addresses") if address)


def any_mac(node: ForeignNode) -> str:
    """Return the MAC address of the (first bonded) card that has the node's address.

    If no link has it: of the first card that uses DHCP. Empty: unknown.
    """
    addressed = [
        device
        for device in node.devices
        if _has_address(device, node.address)
        or any(_has_address(vlan, node.address) for vlan in _mappings(device, "vlans"))
    ]
    asking = [device for device in node.devices if device.get("dhcp") is True]
    for device in addressed or asking:
        selectors = [
            _mapping(device.get("deviceSelector")),
            *_mappings(_mapping(device.get("bond")), "deviceSelectors"),
        ]
        mac = next((text for selector in selectors if (text := _mac_pattern(selector))), "")
        if mac:
            return mac
    return ""


def find_network(configuration: Configuration, address: str) -> tuple[str, str]:
    """Return network and gateway of the link that has an address; empty if unknown."""
    for section in _iter_sections(list(configuration.values())):
        addresses = section.get("addresses")
        for item in addresses if isinstance(addresses, list) else []:
            text = item.get("address") if isinstance(item, dict) else item
            if address and isinstance(text, str) and text.startswith(f"{address}/"):
                interface = _interface(text)
                return (
                    ("", "") if interface is None else (str(interface.network), _gateway(section))
                )
    return "", ""


def _interface(text: str) -> IPv4Interface | None:
    try:
        return IPv4Interface(text)
    except ValueError:
        return None


def _gateway(section: Document) -> str:
    for route in _mappings(section, "routes"):
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
    """Return the MAC address of a selector that has no other condition."""
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
    items = value.get(key)
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _texts(value: Document, key: str) -> list[str]:
    items = value.get(key)
    return [str(item) for item in items] if isinstance(items, list) else []


LINK_KINDS = frozenset(
    {"LinkAliasConfig", "LinkConfig", "VLANConfig", "DHCPv4Config", "Layer2VIPConfig"}
)
"""Kinds of documents that stockman generates for the link with a node's address."""
_ALL_LINK_KINDS = LINK_KINDS | {"BondConfig", "BridgeConfig", "WireguardConfig", "DHCPv6Config"}
_LABEL = "networkInterfaces"


def link_patches(
    node: ForeignNode, link: PlainLink | None, theirs: Configuration, ours: Configuration
) -> list[ForeignPatch]:
    """Return patches for the links of a node; `link` is the one that keys express, if any."""
    is_old = not any(document.get("kind") == "HostnameConfig" for document in node.base)
    documents = (
        _interface_patches(node, link, ours)
        if is_old
        else _document_patches(node, link, theirs, ours)
    )
    at = node.devices_at if node.devices else node.at
    return [
        ForeignPatch(_LABEL, "node", (-2, number), build_document(document, at))
        for number, document in documents
    ]


def _interface_patches(
    node: ForeignNode, link: PlainLink | None, ours: Configuration
) -> list[tuple[int, Document]]:
    """Up to contract 1.11: patches that append to a list in the v1alpha1 document."""
    remaining = [
        device for at, device in enumerate(node.devices) if link is None or at != link.index
    ]
    documents: list[Document] = []
    if link is None and value_at(ours, V1ALPHA1_KEY, ("machine", "network", "interfaces")):
        documents.append({"machine": {"network": {"interfaces": {"$patch": "delete"}}}})
    if remaining:
        documents.append({"machine": {"network": {"interfaces": remaining}}})
    return list(enumerate(documents))


def _document_patches(
    node: ForeignNode, link: PlainLink | None, theirs: Configuration, ours: Configuration
) -> list[tuple[int, Document]]:
    own_names = _link_names(node, link) if link is not None else set()
    documents = [
        document
        for document in node.base
        if document.get("kind") in _ALL_LINK_KINDS
        and str(document.get("name")) not in own_names
        and str(document.get("link")) not in own_names
    ]
    if link is None:
        documents += [
            {"apiVersion": "v1alpha1", "kind": kind, "name": name, "$patch": "delete"}
            for kind, name in ours
            if kind in LINK_KINDS and (kind, name) not in theirs
        ]
    return list(enumerate(documents))


def _link_names(node: ForeignNode, link: PlainLink) -> set[str]:
    """Return the names that the other tool uses for the link that keys express."""
    aliases = [alias for alias in node.base if alias.get("kind") == "LinkAliasConfig"]
    name = next(
        (str(alias["name"]) for alias in aliases if link.mac in str(alias["selector"]).lower()), ""
    )
    return {name} if link.vlan is None else {name, f"{name}.{link.vlan}"}
