"""Addresses: inside their networks, and each used once."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network
from typing import NamedTuple

from stockman.config.rules.context import Context
from stockman.model.origin import Origin


class Use(NamedTuple):
    """An address and who has it."""

    address: IPv4Address
    owner: str
    origin: Origin | None
    announced: bool = False
    """Announced by Cilium, so that BGP can bring it from outside of the node network."""


def check(context: Context) -> None:
    uses = list(_uses(context))
    _check_unique(context, uses)
    network = context.estate.network.node_cidr
    if network is not None:
        for use in uses:
            _check_inside(context, use, network)


def _uses(context: Context) -> Iterator[Use]:
    estate = context.estate
    for index, node in enumerate(estate.nodes):
        if node.address is not None:
            owner = f"node {node.name or index}"
            yield Use(node.address, owner, node.where("address"))
    api = estate.kubernetes.api
    if api.addr is not None and not _is_a_controllers(context):
        yield Use(api.addr, context.name("kubernetes.api.addr"), api.where("addr"))
    for field, address in (
        ("internal", estate.gateways.internal),
        ("dns", estate.gateways.dns),
        ("external", estate.gateways.external),
    ):
        if address is not None:
            name = context.name(f"gateways.{field}")
            yield Use(address, name, estate.gateways.where(field), announced=True)
    gateway = estate.network.default_gateway
    if gateway is not None:
        name = context.name("network.default_gateway")
        yield Use(gateway, name, estate.network.where("default_gateway"))
    elif estate.network.node_cidr is not None and estate.nodes:
        derived = first_address(estate.network.node_cidr)
        yield Use(derived, "the default gateway (first address of the node network)", None)


def _is_a_controllers(context: Context) -> bool:
    """Whether the API has no address of its own: that of the only controller, or, where machines
    reach it by a name, that of any."""
    api = context.estate.kubernetes.api
    controllers = [node for node in context.estate.nodes if node.controller]
    is_free = len(controllers) == 1 or api.endpoint is not None
    return is_free and any(node.address == api.addr for node in controllers)


def first_address(network: IPv4Network) -> IPv4Address:
    """The first address hosts of a network can have; the only one of a /32."""
    return network[1] if network.prefixlen < 31 else network[0]


def _check_unique(context: Context, uses: list[Use]) -> None:
    first: dict[IPv4Address, Use] = {}
    for use in uses:
        other = first.setdefault(use.address, use)
        if other is use:
            continue
        earlier, later = sorted((other, use), key=_reading_order)
        place = f" ({earlier.origin.at})" if earlier.origin is not None else ""
        context.problems.error(
            "address.taken",
            f"{later.owner} has an address that is taken",
            why=f"{use.address} belongs to {earlier.owner}{place}",
            fix=f"give {later.owner} an address of its own",
            at=later.origin,
        )


def _reading_order(use: Use) -> tuple[str, int, int]:
    return use.origin.at if use.origin is not None else ("", 0, 0)


def _check_inside(context: Context, use: Use, network: IPv4Network) -> None:
    if use.origin is None:
        return
    if use.address not in network:
        if use.announced and context.estate.cilium.bgp.router_addr is not None:
            return
        where = context.estate.network.where("node_cidr")
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
