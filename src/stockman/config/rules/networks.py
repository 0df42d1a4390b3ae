"""Rules for addresses and networks."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network
from itertools import combinations
from typing import NamedTuple

from stockman.config.resolve import first_address
from stockman.config.rules.context import RuleContext
from stockman.model.origin import Origin


class AddressUse(NamedTuple):
    """An address and its owner."""

    address: IPv4Address
    owner: str
    origin: Origin | None
    announced: bool = False
    """Whether Cilium announces it, so that BGP allows addresses outside the node network."""


def check_addresses(context: RuleContext) -> None:
    """Check that addresses are inside the node network and unique."""
    uses = list(_list_address_uses(context))
    _check_unique(context, uses)
    network = context.configuration.network.node_cidr
    if network is None:
        return
    outside = [use for use in uses if _is_outside(context, use, network)]
    if len(outside) >= _MANY_OUTSIDE:
        _report_outside(context, outside, network)
    for use in uses:
        if len(outside) < _MANY_OUTSIDE or use not in outside:
            _check_inside(context, use, network)


_MANY_OUTSIDE = 4
"""So many addresses outside of the node network are one mistake: that of the network."""


def _is_outside(context: RuleContext, use: AddressUse, network: IPv4Network) -> bool:
    if use.origin is None or use.address in network:
        return False
    return not (use.announced and context.configuration.cilium.bgp.router_addr is not None)


def _report_outside(context: RuleContext, outside: list[AddressUse], network: IPv4Network) -> None:
    shown = ", ".join(f"{use.address} ({use.owner})" for use in outside[:_MANY_OUTSIDE])
    more = len(outside) - _MANY_OUTSIDE
    first = outside[0].origin
    context.problems.error(
        "address.outside-network",
        f"{len(outside)} addresses are outside of the node network",
        why=f"not inside {network} are {shown}" + (f" and {more} more" if more else ""),
        fix=f"correct {context.name('network.node_cidr')}, or these addresses",
        at=context.configuration.network.where("node_cidr") or first,
    )


def _list_address_uses(context: RuleContext) -> Iterator[AddressUse]:
    estate = context.configuration
    for index, node in enumerate(estate.nodes):
        if node.address is not None:
            owner = f"node {node.name or index}"
            yield AddressUse(node.address, owner, node.where("address"))
    api = estate.kubernetes.api
    if api.addr is not None and not _is_controller_address(context):
        yield AddressUse(api.addr, context.name("kubernetes.api.addr"), api.where("addr"))
    for field, address in (
        ("internal", estate.gateways.internal),
        ("dns", estate.gateways.dns),
        ("external", estate.gateways.external),
    ):
        if address is not None:
            name = context.name(f"gateways.{field}")
            yield AddressUse(address, name, estate.gateways.where(field), announced=True)
    gateway = estate.network.default_gateway
    if gateway is not None:
        name = context.name("network.default_gateway")
        yield AddressUse(gateway, name, estate.network.where("default_gateway"))
    elif estate.network.node_cidr is not None and estate.nodes:
        derived = first_address(estate.network.node_cidr)
        yield AddressUse(derived, "the default gateway (first address of the node network)", None)


def _is_controller_address(context: RuleContext) -> bool:
    """Return whether the API uses the address of a controller: the only one, or any of them if
    machines use another endpoint."""
    api = context.configuration.kubernetes.api
    controllers = [node for node in context.configuration.nodes if node.controller]
    is_free = len(controllers) == 1 or api.endpoint is not None
    return is_free and any(node.address == api.addr for node in controllers)


def _check_unique(context: RuleContext, uses: list[AddressUse]) -> None:
    first: dict[IPv4Address, AddressUse] = {}
    for use in uses:
        first_use = first.setdefault(use.address, use)
        if first_use is use:
            continue
        earlier, later = sorted((first_use, use), key=_position_order)
        position = f" ({earlier.origin.at})" if earlier.origin is not None else ""
        context.problems.error(
            "address.taken",
            f"{later.owner} has an address that is taken",
            why=f"{use.address} belongs to {earlier.owner}{position}",
            fix=f"give {later.owner} an address of its own",
            at=later.origin,
        )


def _position_order(use: AddressUse) -> tuple[str, int, int]:
    return use.origin.at if use.origin is not None else ("", 0, 0)


def _check_inside(context: RuleContext, use: AddressUse, network: IPv4Network) -> None:
    if use.origin is None:
        return
    if use.address not in network:
        if not _is_outside(context, use, network):
            return
        where = context.configuration.network.where("node_cidr")
        context.problems.error(
            "address.outside-network",
            f"{use.owner} has an address outside of the node network",
            why=f"{use.address} is not inside {network}" + (f" ({where.at})" if where else ""),
            fix=f"give {use.owner} an address from {first_address(network)} to {network[-2]}"
            if network.prefixlen < 31
            else f"give {use.owner} an address of {network}",
            at=use.origin,
        )
    elif network.prefixlen < 31 and use.address in (network[0], network[-1]):
        which = "first" if use.address == network[0] else "last"
        context.problems.error(
            "address.reserved",
            f"{use.owner} has an address that no machine can have",
            why=f"{use.address} is the {which} address of {network}",
            fix=f"give {use.owner} another address of {network}",
            at=use.origin,
        )


_DNS_INDEX = 10


def check_networks(context: RuleContext) -> None:
    """Check overlaps, the service network, time servers, VLAN tags and address pools."""
    _check_overlaps(context)
    _check_services(context)
    _check_time_servers(context)
    _check_double_tags(context)
    _check_pool(context)


def _check_overlaps(context: RuleContext) -> None:
    estate = context.configuration
    networks = [
        ("network.node_cidr", estate.network.node_cidr, estate.network.where("node_cidr")),
        ("kubernetes.pod_cidr", estate.kubernetes.pod_cidr, estate.kubernetes.where("pod_cidr")),
        ("kubernetes.svc_cidr", estate.kubernetes.svc_cidr, estate.kubernetes.where("svc_cidr")),
    ]
    if not context.has_cluster:
        return
    for (first_name, first, first_origin), (second_name, second, second_origin) in combinations(
        networks, 2
    ):
        if first is None or second is None or not first.overlaps(second):
            continue
        context.problems.error(
            "cidr.overlap",
            f"{context.name(second_name)} overlaps {context.name(first_name)}",
            why=f"{second} and {first} share addresses"
            + (f" ({first_origin.at})" if first_origin else ""),
            fix="choose networks that have no address in common",
            at=second_origin or first_origin,
        )


def _check_services(context: RuleContext) -> None:
    kubernetes = context.configuration.kubernetes
    services = kubernetes.svc_cidr
    where = kubernetes.where("svc_cidr")
    name = context.name("kubernetes.svc_cidr")
    if services.num_addresses <= _DNS_INDEX + 1:
        context.problems.error(
            "cidr.too-small",
            f"{name} has no room for cluster DNS",
            why=f"{services} has {services.num_addresses} addresses; DNS takes the tenth",
            fix="use a network of /28 or larger; /16 is usual",
            at=where,
        )
    elif kubernetes.coredns_addr is not None and kubernetes.coredns_addr not in services:
        context.problems.error(
            "cidr.dns-outside",
            "kubernetes.coredns_addr is outside of the service network",
            why=f"{kubernetes.coredns_addr} is not inside {services}",
            fix=f"use {services[_DNS_INDEX]}, or remove the key",
            at=kubernetes.where("coredns_addr"),
        )


def _check_time_servers(context: RuleContext) -> None:
    network = context.configuration.network
    for index, server in enumerate(network.ntp_servers):
        if not server.replace(".", "").isdigit():
            context.problems.warn(
                "network.time-server-name",
                f"the time server {server} is a name",
                why="a node needs the time first of all, and a name works only once DNS does",
                fix="use addresses of time servers",
                at=network.origins.get(f"ntp_servers[{index}]") or network.where("ntp_servers"),
            )


def _check_double_tags(context: RuleContext) -> None:
    tag = context.configuration.network.vlan_tag
    if tag is None:
        return
    for node in context.configuration.nodes:
        first = node.vm.nics[0] if node.vm is not None and node.vm.nics else None
        vlan = first.vlan_id if first is not None else node.vm.vlan_id if node.vm else None
        if vlan is None or node.vm is None:
            continue
        context.problems.warn(
            "network.double-tag",
            f"frames of node {node.name} are tagged twice",
            why=f"{context.name('network.vlan_tag')} is {tag}, and its card is in VLAN {vlan}",
            fix="let either the node or the bridge tag, not both",
            at=(first or node.vm).where("vlan_id"),
        )


def _check_pool(context: RuleContext) -> None:
    from ipaddress import IPv4Address, IPv4Network

    cilium = context.configuration.cilium
    for index, text in enumerate(cilium.loadbalancer_pool):
        try:
            if "-" in text:
                low, high = (IPv4Address(address) for address in text.split("-"))
                fits = low <= high
            else:
                fits = IPv4Network(text) is not None
        except ValueError:
            fits = False
        if not fits:
            context.problems.error(
                "config.value",
                "cilium.loadbalancer_pool has an item that does not fit",
                why=f"{text!r} is not an address, a rising range a-b, or a network",
                fix="write for example 127.66.0.19 or 127.66.0.20-127.66.0.29",
                at=cilium.origins.get(f"loadbalancer_pool[{index}]"),
            )
