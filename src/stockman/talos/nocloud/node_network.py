"""The network of a node as it was desired."""

from __future__ import annotations

from dataclasses import replace

from stockman.model.desired import Cluster, Node
from stockman.talos.nocloud.network import Interface, NodeNetwork

OWN = "eth0"
"""The card with the node's address: nocloud images count cards, and it is the first."""


def node_network(cluster: Cluster, node: Node) -> NodeNetwork:
    """Links, addresses and resolvers of one node."""
    network = cluster.network
    card = Interface(name=OWN, mac=str(node.mac_addr), mtu=node.mtu)
    own = [_addressed(cluster, node, card)]
    if network.vlan_tag is not None:
        vlan = Interface(
            name=f"{OWN}.{network.vlan_tag}", vlan=network.vlan_tag, parent=OWN, mtu=node.mtu
        )
        own = [card, _addressed(cluster, node, vlan)]
    others = [
        Interface(name=link.name, mac=_mac(node, link.name), mtu=link.mtu) for link in node.links
    ]
    cards = [one for one in (*own, *others) if one.vlan is None]
    vlans = [one for one in (*own, *others) if one.vlan is not None]
    return NodeNetwork(interfaces=(*cards, *vlans), resolvers=network.dns_servers)


def _addressed(cluster: Cluster, node: Node, link: Interface) -> Interface:
    if cluster.network.addressing == "dhcp":
        return replace(link, dhcp=True)
    return replace(link, addresses=(node.address,), gateway=cluster.network.default_gateway)


def _mac(node: Node, name: str) -> str:
    """The address of the card that gets this name; empty where that is not known."""
    position = name.removeprefix("eth")
    if node.vm is None or name == position or not position.isdigit():
        return ""
    nics = node.vm.nics
    mac = nics[int(position)].mac_addr if int(position) < len(nics) else None
    return "" if mac is None else str(mac)
