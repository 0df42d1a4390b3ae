"""`network-config` in both versions that Talos reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from stockman.config.yaml_writer import dump
from stockman.talos.nocloud.network import Bonding, Interface, NodeNetwork, Wish

Form = Literal[1, 2]
Part = dict[str, object]


def network_config(network: NodeNetwork, form: Form) -> str:
    """The text of the file; what the form cannot say is left out, see `unsaid`."""
    return dump(_first(network) if form == 1 else _second(network))


def suitable_form(network: NodeNetwork) -> Form:
    """Version 1, which finds links below VLANs by their MAC addresses; 2 where there are routes."""
    return 2 if any(one.hops for one in network.interfaces) else 1


def unsaid(network: NodeNetwork, form: Form) -> tuple[Wish, ...]:
    """What was wished and has no words in this version."""
    return tuple(_unsaid(network, form))


def _unsaid(network: NodeNetwork, form: Form) -> Iterator[Wish]:
    for one in network.interfaces:
        if one.bond is not None and one.bond.others:
            yield Wish(
                what=f"{', '.join(one.bond.others)} of {one.name}",
                why="network-config has no such options of bonds",
                needed=False,
            )
        if form == 1 and one.hops:
            yield Wish(
                what=f"{len(one.hops)} routes by {one.name}",
                why="Talos reads no routes in version 1 but the default one",
                needed=False,
            )
    if network.search_domains:
        yield Wish(
            what="search domains",
            why="Talos passes over them in both versions",
            needed=False,
        )
    found_by_mac = {one.name for one in network.cards if one.mac}
    for one in network.vlans if form == 2 else ():
        if one.parent in found_by_mac:
            yield Wish(
                what=f"{one.parent} below {one.name} is found by its MAC address",
                why="in version 2 Talos takes the link below a VLAN by its name alone",
                needed=False,
            )


def _first(network: NodeNetwork) -> Part:
    entries: list[Part] = [_entry(one) for one in network.interfaces]
    if network.resolvers:
        resolvers = [str(address) for address in network.resolvers]
        search: Part = {"search": list(network.search_domains)} if network.search_domains else {}
        entries.append({"type": "nameserver", "address": resolvers, **search})
    return {"version": 1, "config": entries}


def _entry(one: Interface) -> Part:
    entry: Part = {"type": "physical", "name": one.name}
    if one.bond is not None:
        entry = {"type": "bond", "name": one.name, "bond_interfaces": list(one.bond.members)}
        entry["params"] = _said(
            {
                "bond-mode": one.bond.mode,
                "bond-miimon": one.bond.miimon,
                "bond-lacp-rate": one.bond.lacp_rate,
                "bond-xmit-hash-policy": one.bond.hash_policy,
                "up-delay": one.bond.up_delay,
                "down-delay": one.bond.down_delay,
            }
        )
    elif one.vlan is not None:
        entry = {"type": "vlan", "name": one.name, "vlan_id": one.vlan, "vlan_link": one.parent}
    if one.mac:
        entry["mac_address"] = one.mac
    if one.mtu is not None:
        entry["mtu"] = one.mtu
    subnets = list(_subnets(one))
    if subnets:
        entry["subnets"] = subnets
    return entry


def _subnets(one: Interface) -> Iterator[Part]:
    if one.dhcp:
        yield {"type": "dhcp4"}
    for number, address in enumerate(one.addresses):
        subnet: Part = {"type": "static", "address": str(address)}
        if one.gateway is not None and number == 0:
            subnet["gateway"] = str(one.gateway)
        yield subnet


def _second(network: NodeNetwork) -> Part:
    found: Part = {"version": 2}
    for key, links in (
        ("ethernets", network.cards),
        ("bonds", network.bonds),
        ("vlans", network.vlans),
    ):
        if links:
            found[key] = {one.name: _link(one) for one in links}
    # Talos joins the resolvers of all links; they stand on the first that is addressed.
    addressed = next((one for one in network.interfaces if one.addresses or one.dhcp), None)
    if addressed is not None and network.resolvers:
        resolvers: Part = {"addresses": [str(address) for address in network.resolvers]}
        if network.search_domains:
            resolvers["search"] = list(network.search_domains)
        for links_of in found.values():
            if isinstance(links_of, dict) and addressed.name in links_of:
                links_of[addressed.name]["nameservers"] = resolvers
    return found


def _link(one: Interface) -> Part:
    link: Part = {}
    if one.mac:
        link["match"] = {"macaddress": one.mac}
    if one.bond is not None:
        link |= {"interfaces": list(one.bond.members), "parameters": _parameters(one.bond)}
    if one.vlan is not None:
        link |= {"id": one.vlan, "link": one.parent}
    if one.mtu is not None:
        link["mtu"] = one.mtu
    if one.dhcp:
        link["dhcp4"] = True
    if one.addresses:
        link["addresses"] = [str(address) for address in one.addresses]
    routes: list[Part] = []
    if one.gateway is not None:
        routes.append({"to": "default", "via": str(one.gateway)})
    for hop in one.hops:
        metric: Part = {} if hop.metric is None else {"metric": hop.metric}
        routes.append({"to": str(hop.network), "via": str(hop.gateway), **metric})
    if routes:
        link["routes"] = routes
    return link


def _parameters(bond: Bonding) -> Part:
    return _said(
        {
            "mode": bond.mode,
            "mii-monitor-interval": bond.miimon,
            "lacp-rate": bond.lacp_rate,
            "transmit-hash-policy": bond.hash_policy,
            "up-delay": bond.up_delay,
            "down-delay": bond.down_delay,
        }
    )


def _said(options: Part) -> Part:
    return {name: value for name, value in options.items() if value}
