"""Chooses the bridge, the network and the addresses of the machines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ipaddress import IPv4Address, IPv4Network

from stockman.model.errors import Refused
from stockman.model.record import record
from stockman.planning.starter import problems
from stockman.planning.starter.observed import StarterBridge, StarterHost

_FIRST = 10
"""Index of the first assigned address; small networks begin lower."""
_STEP = 10
_LAST = 1000
_ROUTER = 1
_VIRTUAL = 3
"""Addresses of the Kubernetes API and of the two gateways."""


@record
class NetworkOptions:
    """Network options of the user. None: use what the hosts have."""

    network: IPv4Network | None = None
    gateway: IPv4Address | None = None


@record
class AddressNeeds:
    """The number of machines, and addresses that are in use."""

    count: int
    taken: frozenset[IPv4Address] = frozenset()


@record
class ChosenNetwork:
    """The network of the machines, with all assigned addresses."""

    bridge: str
    vlan: int | None
    """None: untagged."""
    network: IPv4Network
    gateway: IPv4Address
    api: IPv4Address
    nodes: tuple[IPv4Address, ...]
    services: IPv4Address
    """Gateway of services for the local network."""
    names: IPv4Address
    """Gateway for DNS names of the domain."""
    bridge_why: str
    network_why: str
    gateway_why: str


def choose_network(
    hosts: Sequence[StarterHost], options: NetworkOptions, needed: AddressNeeds
) -> ChosenNetwork:
    """Choose the network of the machines. `Refused` if it is unknown."""
    count = needed.count
    rows = _bridge(hosts, options)
    first = next((bridge for bridge in rows if bridge.address is not None), rows[0])
    network = options.network or first.network
    if network is None:
        raise Refused(problems.no_network(first.label))
    gateway, gateway_why = _gateway(rows, options, network)
    taken = {gateway, *needed.taken, *_addresses(hosts)}
    free = _free(network, taken, count + _VIRTUAL)
    reason = f"the network of the hosts on {first.label}"
    return ChosenNetwork(
        bridge=first.name,
        vlan=first.vlan,
        network=network,
        gateway=gateway,
        api=free[0],
        nodes=tuple(free[1 : count + 1]),
        services=free[count + 1],
        names=free[count + 2],
        bridge_why=_bridge_why(rows, network),
        network_why=reason if network == first.network else "selected with --network",
        gateway_why=gateway_why,
    )


def _bridge(hosts: Sequence[StarterHost], options: NetworkOptions) -> list[StarterBridge]:
    """Choose a bridge that all hosts have: in the selected network, or with an address at all."""
    common = list(_common(hosts))
    if not common:
        raise Refused(
            problems.no_bridge([str(host.name) for host in hosts], _bridge_summary(hosts))
        )

    def rank(rows: list[StarterBridge]) -> tuple[bool, bool, bool, str]:
        inside = options.network is not None and any(
            bridge.network == options.network for bridge in rows
        )
        leads_out = any(bridge.gateway is not None for bridge in rows)
        addressed = all(bridge.address is not None for bridge in rows)
        return not inside, not leads_out, not addressed, rows[0].label

    return min(common, key=rank)


def _common(hosts: Sequence[StarterHost]) -> Iterator[list[StarterBridge]]:
    for first in hosts[0].bridges:
        rows = [bridge for host in hosts for bridge in host.bridges if bridge.label == first.label]
        if len(rows) == len(hosts) and all(bridge.active for bridge in rows):
            yield rows


def _gateway(
    rows: Sequence[StarterBridge], options: NetworkOptions, network: IPv4Network
) -> tuple[IPv4Address, str]:
    if options.gateway is not None:
        if options.gateway not in network:
            raise Refused(problems.gateway_outside(options.gateway, network))
        return options.gateway, "selected with --gateway"
    for bridge in rows:
        if bridge.gateway is not None and bridge.gateway in network:
            return bridge.gateway, f"default gateway of the hosts on {bridge.label}"
    return network[_ROUTER], "placeholder: the first address of the network"


def _free(network: IPv4Network, taken: set[IPv4Address], count: int) -> list[IPv4Address]:
    """Return consecutive free addresses, or single ones if there is no such range.

    A range with assigned addresses may contain virtual addresses that nobody reports, so it is
    skipped.
    """
    size = network.num_addresses - 1
    for start in range(_FIRST, min(size - count, _LAST) + 1, _STEP):
        row = [network[index] for index in range(start, start + count)]
        if not taken & set(row):
            return row
    indexes = range(_ROUTER, min(size, _ROUTER + count + len(taken)))
    addresses = [network[index] for index in indexes if network[index] not in taken]
    if len(addresses) < count:
        raise Refused(problems.small_network(network, count))
    return addresses[:count]


def _addresses(hosts: Sequence[StarterHost]) -> Iterator[IPv4Address]:
    for host in hosts:
        for bridge in host.bridges:
            if bridge.address is not None:
                yield bridge.address.ip


def _bridge_why(rows: Sequence[StarterBridge], network: IPv4Network) -> str:
    where = "up on every host" if len(rows) > 1 else "up on the host"
    aware = "VLAN aware" if all(bridge.vlan_aware for bridge in rows) else "not VLAN aware"
    inside = any(bridge.network == network for bridge in rows)
    hosts_note = f", with host addresses in {network}" if inside else ""
    return f"{where}, {aware}{hosts_note}"


def _bridge_summary(hosts: Sequence[StarterHost]) -> str:
    summaries = []
    for host in hosts:
        names = [f"{bridge.label}{'' if bridge.active else ' (down)'}" for bridge in host.bridges]
        summaries.append(f"{host.name}: {', '.join(names) or 'none'}")
    return "; ".join(summaries)
