"""The links of a machine and what each carries, in no contract's words."""

from __future__ import annotations

from ipaddress import IPv4Interface, IPv4Network
from typing import NamedTuple

from stockman.model.links import Bond, Link, Route, VlanLink
from stockman.talos.machine.facts import Machine

ALIAS = "net0"
"""Name of the link with the node's address; it is found by its MAC address."""

_EVERYWHERE = IPv4Network("0.0.0.0/0")


class Face(NamedTuple):
    """What a link or a VLAN carries."""

    mtu: int | None = None
    """None: the default of the link."""
    addresses: tuple[IPv4Interface, ...] = ()
    dhcp: bool = False
    routes: tuple[Route, ...] = ()
    vip: str = ""
    """Virtual address that it may take over. Empty: none."""


class Wire(NamedTuple):
    """One link: a card, or a bond of cards."""

    name: str
    macs: tuple[str, ...]
    """MAC addresses of its cards. Empty: it is found by its name."""
    face: Face
    bond: Bond | None = None
    """None: a single card."""
    vlans: tuple[tuple[int, Face], ...] = ()


def wires(machine: Machine) -> list[Wire]:
    """The link with the node's address first, then the others."""
    return [_own(machine), *(_other(link) for link in machine.node.links)]


def _own(machine: Machine) -> Wire:
    node, tag = machine.node, machine.cluster.network.vlan_tag
    face = _addressed(machine)
    vlans = tuple(_vlan(vlan) for vlan in node.vlans)
    if tag is not None:
        vlans = ((tag, face), *vlans)
        face = Face(mtu=node.mtu)
    bond = node.bond
    if bond is None:
        return Wire(ALIAS, (node.mac_addr,), face, vlans=vlans)
    macs = tuple(dict.fromkeys((node.mac_addr, *bond.members)))
    return Wire(bond.name, macs, face, bond, vlans)


def _addressed(machine: Machine) -> Face:
    node, network = machine.node, machine.cluster.network
    static = network.addressing == "static"
    default = Route(network=_EVERYWHERE, gateway=network.default_gateway)
    return Face(
        mtu=node.mtu,
        addresses=(node.address,) if static else (),
        dhcp=not static,
        routes=(default, *node.routes) if static else node.routes,
        vip=_shared(machine) if machine.is_controller else "",
    )


def _shared(machine: Machine) -> str:
    """The virtual address of the API. Empty: it has that of a machine."""
    address = machine.cluster.kubernetes.api_addr
    own = {node.address.ip for node in machine.desired.nodes}
    return "" if address in own else str(address)


def _other(link: Link) -> Wire:
    return Wire(
        link.name,
        (link.mac_addr,) if link.mac_addr is not None else (),
        Face(link.mtu, link.addresses, link.dhcp, link.routes),
        vlans=tuple(_vlan(vlan) for vlan in link.vlans),
    )


def _vlan(vlan: VlanLink) -> tuple[int, Face]:
    return vlan.id, Face(vlan.mtu, vlan.addresses, vlan.dhcp, vlan.routes)


def bond_options(bond: Bond) -> dict[str, object]:
    """Options under the names that all contracts share; those that say nothing are left out."""
    options: dict[str, object] = {
        "miimon": bond.miimon,
        "updelay": bond.up_delay,
        "downdelay": bond.down_delay,
        "xmitHashPolicy": bond.hash_policy,
        "lacpRate": bond.lacp_rate,
        "adSelect": bond.ad_select,
        "minLinks": bond.min_links,
    }
    return {name: value for name, value in options.items() if value}
