"""The network of a machine before it has a configuration, in no format's words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from ipaddress import IPv4Address, IPv4Interface, IPv4Network

from stockman.model.desired import Cluster, Node
from stockman.model.machine import Bond, Link, Route, VlanLink
from stockman.model.record import record


@record
class NodeRoute:
    """A route besides the default one."""

    network: IPv4Network
    gateway: IPv4Address
    metric: int | None = None
    """None: as Talos decides."""


@record
class NodeBond:
    """How several cards are one link."""

    mode: str
    members: tuple[str, ...]
    """Names of the links in it."""
    miimon: int = 0
    """Milliseconds; 0: not said."""
    up_delay: int = 0
    down_delay: int = 0
    lacp_rate: str = ""
    """Empty: not said."""
    hash_policy: str = ""
    """Empty: not said."""
    others: tuple[str, ...] = ()
    """Names of further options that were asked for; no format has words for them."""


@record
class Interface:
    """One link: a card, a bond or a VLAN. It is up."""

    name: str
    mac: str = ""
    """Found by this address. Empty: by its name."""
    bond: NodeBond | None = None
    """None: not a bond."""
    vlan: int | None = None
    """None: not a VLAN."""
    parent: str = ""
    """Of a VLAN: the link below."""
    mtu: int | None = None
    """None: not said."""
    addresses: tuple[IPv4Interface, ...] = ()
    dhcp: bool = False
    gateway: IPv4Address | None = None
    """None: no default route by this link."""
    hops: tuple[NodeRoute, ...] = ()


@record
class NodeNetwork:
    """All links, those below others first, and who answers names."""

    interfaces: tuple[Interface, ...]
    resolvers: tuple[IPv4Address, ...] = ()
    search_domains: tuple[str, ...] = ()

    @property
    def cards(self) -> tuple[Interface, ...]:
        return tuple(one for one in self.interfaces if one.bond is None and one.vlan is None)

    @property
    def bonds(self) -> tuple[Interface, ...]:
        return tuple(one for one in self.interfaces if one.bond is not None)

    @property
    def vlans(self) -> tuple[Interface, ...]:
        return tuple(one for one in self.interfaces if one.vlan is not None)


@record
class UnsupportedSetting:
    """Something wanted of the network or the machine that a format cannot say."""

    what: str
    why: str
    needed: bool = True
    """Whether the machine would be lost or wrong without it. False: its configuration says it
    later."""


NODE_INTERFACE = "eth0"
"""The card with the node's address: nocloud images count cards, and it is the first."""


def build_node_network(cluster: Cluster, node: Node) -> NodeNetwork:
    """Links, addresses and resolvers of one node."""
    found = [
        *_node_interfaces(cluster, node),
        *(one for link in node.links for one in _extra_interfaces(node, link)),
    ]
    ordered = sorted(found, key=lambda one: (one.vlan is not None, one.bond is not None))
    return NodeNetwork(interfaces=tuple(ordered), resolvers=cluster.network.dns_servers)


def _node_interfaces(cluster: Cluster, node: Node) -> Iterator[Interface]:
    """The link with the node's address, what is below it and what is on it."""
    card = Interface(name=NODE_INTERFACE, mac=str(node.mac_addr), mtu=node.mtu)
    link = card
    if node.bond is not None:
        cards = list(_members(node, node.bond, card))
        yield from cards
        link = Interface(name=node.bond.name, mtu=node.mtu, bond=_bond(node.bond, cards))
    tag = cluster.network.vlan_tag
    if tag is None:
        yield _with_addresses(cluster, node, link)
    else:
        yield link
        tagged = Interface(name=f"{link.name}.{tag}", vlan=tag, parent=link.name, mtu=node.mtu)
        yield _with_addresses(cluster, node, tagged)
    yield from (_vlan_interface(link.name, vlan) for vlan in node.vlans)


def _members(node: Node, bond: Bond, own: Interface) -> Iterator[Interface]:
    yield own
    others = [mac for mac in bond.members if str(mac).lower() != own.mac.lower()]
    for number, mac in enumerate(others, start=1):
        yield Interface(
            name=_name_by_mac(node, str(mac)) or f"eth{number}", mac=str(mac), mtu=node.mtu
        )


def _bond(bond: Bond, cards: list[Interface]) -> NodeBond:
    others = {"ad_select": bond.ad_select, "min_links": bond.min_links}
    return NodeBond(
        mode=bond.mode,
        members=tuple(card.name for card in cards),
        miimon=bond.miimon,
        up_delay=bond.up_delay,
        down_delay=bond.down_delay,
        lacp_rate=bond.lacp_rate or "",
        hash_policy=bond.hash_policy or "",
        others=tuple(name for name, value in others.items() if value is not None),
    )


def _with_addresses(cluster: Cluster, node: Node, link: Interface) -> Interface:
    hops = tuple(_routes(node.routes))
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
        hops=tuple(_routes(link.routes)),
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
        hops=tuple(_routes(vlan.routes)),
    )


def _routes(routes: tuple[Route, ...]) -> Iterator[NodeRoute]:
    """Routes by a gateway; Talos makes those on the link itself from its addresses."""
    for route in routes:
        if route.gateway is not None:
            yield NodeRoute(network=route.network, gateway=route.gateway, metric=route.metric)


def _mac_by_name(node: Node, name: str) -> str:
    """The address of the card that gets this name; empty where that is not known."""
    for number, nic in enumerate(node.vm.nics if node.vm is not None else ()):
        if f"eth{number}" == name and nic.mac_addr is not None:
            return str(nic.mac_addr)
    return ""


def _name_by_mac(node: Node, mac: str) -> str:
    """The name of the card with this address; empty where that is not known."""
    for number, nic in enumerate(node.vm.nics if node.vm is not None else ()):
        if nic.mac_addr is not None and str(nic.mac_addr).lower() == mac.lower():
            return f"eth{number}"
    return ""
