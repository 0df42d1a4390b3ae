"""The network of a node as it was desired."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from stockman.model.desired import Cluster, Node
from stockman.model.links import Bond, Link, Route, VlanLink
from stockman.talos.nocloud.network import Bonding, Hop, Interface, NodeNetwork

OWN = "eth0"
"""The card with the node's address: nocloud images count cards, and it is the first."""


def node_network(cluster: Cluster, node: Node) -> NodeNetwork:
    """Links, addresses and resolvers of one node."""
    found = [*_own(cluster, node), *(one for link in node.links for one in _other(node, link))]
    ordered = sorted(found, key=lambda one: (one.vlan is not None, one.bond is not None))
    return NodeNetwork(interfaces=tuple(ordered), resolvers=cluster.network.dns_servers)


def _own(cluster: Cluster, node: Node) -> Iterator[Interface]:
    """The link with the node's address, what is below it and what is on it."""
    card = Interface(name=OWN, mac=str(node.mac_addr), mtu=node.mtu)
    link = card
    if node.bond is not None:
        cards = list(_members(node, node.bond, card))
        yield from cards
        link = Interface(name=node.bond.name, mtu=node.mtu, bond=_bonding(node.bond, cards))
    tag = cluster.network.vlan_tag
    if tag is None:
        yield _addressed(cluster, node, link)
    else:
        yield link
        tagged = Interface(name=f"{link.name}.{tag}", vlan=tag, parent=link.name, mtu=node.mtu)
        yield _addressed(cluster, node, tagged)
    yield from (_vlan(link.name, vlan) for vlan in node.vlans)


def _members(node: Node, bond: Bond, own: Interface) -> Iterator[Interface]:
    yield own
    others = [mac for mac in bond.members if str(mac).lower() != own.mac.lower()]
    for number, mac in enumerate(others, start=1):
        yield Interface(name=_name(node, str(mac)) or f"eth{number}", mac=str(mac), mtu=node.mtu)


def _bonding(bond: Bond, cards: list[Interface]) -> Bonding:
    others = {"ad_select": bond.ad_select, "min_links": bond.min_links}
    return Bonding(
        mode=bond.mode,
        members=tuple(card.name for card in cards),
        miimon=bond.miimon,
        up_delay=bond.up_delay,
        down_delay=bond.down_delay,
        lacp_rate=bond.lacp_rate or "",
        hash_policy=bond.hash_policy or "",
        others=tuple(name for name, value in others.items() if value is not None),
    )


def _addressed(cluster: Cluster, node: Node, link: Interface) -> Interface:
    hops = tuple(_hops(node.routes))
    if cluster.network.addressing == "dhcp":
        return replace(link, dhcp=True, hops=hops)
    gateway = cluster.network.default_gateway
    return replace(link, addresses=(node.address,), gateway=gateway, hops=hops)


def _other(node: Node, link: Link) -> Iterator[Interface]:
    mac = _mac(node, link.name) if link.mac_addr is None else str(link.mac_addr)
    yield Interface(
        name=link.name,
        mac=mac,
        mtu=link.mtu,
        addresses=link.addresses,
        dhcp=link.dhcp,
        hops=tuple(_hops(link.routes)),
    )
    yield from (_vlan(link.name, vlan) for vlan in link.vlans)


def _vlan(parent: str, vlan: VlanLink) -> Interface:
    return Interface(
        name=f"{parent}.{vlan.id}",
        vlan=vlan.id,
        parent=parent,
        mtu=vlan.mtu,
        addresses=vlan.addresses,
        dhcp=vlan.dhcp,
        hops=tuple(_hops(vlan.routes)),
    )


def _hops(routes: tuple[Route, ...]) -> Iterator[Hop]:
    """Routes by a gateway; Talos makes those on the link itself from its addresses."""
    for route in routes:
        if route.gateway is not None:
            yield Hop(network=route.network, gateway=route.gateway, metric=route.metric)


def _mac(node: Node, name: str) -> str:
    """The address of the card that gets this name; empty where that is not known."""
    for number, nic in enumerate(node.vm.nics if node.vm is not None else ()):
        if f"eth{number}" == name and nic.mac_addr is not None:
            return str(nic.mac_addr)
    return ""


def _name(node: Node, mac: str) -> str:
    """The name of the card with this address; empty where that is not known."""
    for number, nic in enumerate(node.vm.nics if node.vm is not None else ()):
        if nic.mac_addr is not None and str(nic.mac_addr).lower() == mac.lower():
            return f"eth{number}"
    return ""
