"""The network of a machine before it has a configuration, independent of any format."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from ipaddress import IPv4Address, IPv4Interface

from stockman.model.desired import Cluster, Node
from stockman.model.machine import Bond, Link, Route, VlanLink
from stockman.model.record import record


@record
class Interface:
    """One link: a card, a bond or a VLAN. It is up."""

    name: str
    mac: str = ""
    """Selects the card. Empty: it is selected by its name."""
    bond: Bond | None = None
    """None: not a bond."""
    members: tuple[str, ...] = ()
    """Names of the links of a bond."""
    vlan: int | None = None
    """None: not a VLAN."""
    parent: str = ""
    """Parent link of a VLAN."""
    mtu: int | None = None
    """None: not set."""
    addresses: tuple[IPv4Interface, ...] = ()
    dhcp: bool = False
    gateway: IPv4Address | None = None
    """None: no default route on this link."""
    hops: tuple[Route, ...] = ()
    """Routes with a gateway, besides the default route."""


@record
class NodeNetwork:
    """All links, parents first, and the DNS servers."""

    interfaces: tuple[Interface, ...]
    resolvers: tuple[IPv4Address, ...] = ()
    search_domains: tuple[str, ...] = ()

    @property
    def cards(self) -> tuple[Interface, ...]:
        return tuple(
            interface
            for interface in self.interfaces
            if interface.bond is None and interface.vlan is None
        )

    @property
    def bonds(self) -> tuple[Interface, ...]:
        return tuple(interface for interface in self.interfaces if interface.bond is not None)

    @property
    def vlans(self) -> tuple[Interface, ...]:
        return tuple(interface for interface in self.interfaces if interface.vlan is not None)


@record
class UnsupportedSetting:
    """A requested setting that a format cannot express."""

    what: str
    why: str
    needed: bool = True
    """Whether the machine would not work correctly without it. False: its configuration applies it
    later."""


NODE_INTERFACE = "eth0"
"""The card with the node's address: nocloud images number cards, and it is the first."""


def build_node_network(cluster: Cluster, node: Node) -> NodeNetwork:
    """Return links, addresses and resolvers of one node."""
    interfaces = [
        *_node_interfaces(cluster, node),
        *(interface for link in node.links for interface in _extra_interfaces(node, link)),
    ]
    ordered = sorted(
        interfaces, key=lambda interface: (interface.vlan is not None, interface.bond is not None)
    )
    return NodeNetwork(interfaces=tuple(ordered), resolvers=cluster.network.dns_servers)


def _node_interfaces(cluster: Cluster, node: Node) -> Iterator[Interface]:
    """Yield the link with the node's address, its parents and its VLANs."""
    card = Interface(name=NODE_INTERFACE, mac=str(node.mac_addr), mtu=node.mtu)
    link = card
    if node.bond is not None:
        cards = list(_members(node, node.bond, card))
        yield from cards
        members = tuple(card.name for card in cards)
        link = Interface(name=node.bond.name, mtu=node.mtu, bond=node.bond, members=members)
    tag = cluster.network.vlan_tag
    if tag is None:
        yield _with_addresses(cluster, node, link)
    else:
        yield link
        tagged = Interface(name=f"{link.name}.{tag}", vlan=tag, parent=link.name, mtu=node.mtu)
        yield _with_addresses(cluster, node, tagged)
    yield from (_vlan_interface(link.name, vlan) for vlan in node.vlans)


def _members(node: Node, bond: Bond, node_card: Interface) -> Iterator[Interface]:
    yield node_card
    further = [mac for mac in bond.members if str(mac).lower() != node_card.mac.lower()]
    for number, mac in enumerate(further, start=1):
        yield Interface(
            name=_name_by_mac(node, str(mac)) or f"eth{number}", mac=str(mac), mtu=node.mtu
        )


def _with_addresses(cluster: Cluster, node: Node, link: Interface) -> Interface:
    hops = _routes(node.routes)
    if cluster.network.addressing == "dhcp":
        return replace(link, dhcp=True, hops=hops)
    gateway = cluster.network.default_gateway
    return replace(link, addresses=(node.address,), gateway=gateway, hops=hops)


def _extra_interfaces(node: Node, link: Link) -> Iterator[Interface]:
    mac = _mac_by_name(node, link.name) if link.mac_addr is None else str(link.mac_addr)
    yield Interface(
        name=link.name,
        mac=mac,
        mtu=link.mtu,
        addresses=link.addresses,
        dhcp=link.dhcp,
        hops=_routes(link.routes),
    )
    yield from (_vlan_interface(link.name, vlan) for vlan in link.vlans)


def _vlan_interface(parent: str, vlan: VlanLink) -> Interface:
    return Interface(
        name=f"{parent}.{vlan.id}",
        vlan=vlan.id,
        parent=parent,
        mtu=vlan.mtu,
        addresses=vlan.addresses,
        dhcp=vlan.dhcp,
        hops=_routes(vlan.routes),
    )


def _routes(routes: tuple[Route, ...]) -> tuple[Route, ...]:
    """Return routes with a gateway; Talos derives on-link routes from the addresses."""
    return tuple(route for route in routes if route.gateway is not None)


def _mac_by_name(node: Node, name: str) -> str:
    """Return the MAC address of the card with this name; empty if unknown."""
    for number, nic in enumerate(node.vm.nics if node.vm is not None else ()):
        if f"eth{number}" == name and nic.mac_addr is not None:
            return str(nic.mac_addr)
    return ""


def _name_by_mac(node: Node, mac: str) -> str:
    """Return the name of the card with this MAC address; empty if unknown."""
    for number, nic in enumerate(node.vm.nics if node.vm is not None else ()):
        if nic.mac_addr is not None and str(nic.mac_addr).lower() == mac.lower():
            return f"eth{number}"
    return ""
