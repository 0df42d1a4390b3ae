"""Which bridge and network the machines are in, and which addresses they get."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ipaddress import IPv4Address, IPv4Network

from stockman.model.errors import Refused
from stockman.model.record import record
from stockman.planning.starter import problems
from stockman.planning.starter.observed import StarterBridge, StarterHost

_FIRST = 10
"""Place of the first address that is given out; small networks begin lower."""
_STEP = 10
_LAST = 1000
_ROUTER = 1
_VIRTUAL = 3
"""Addresses of the Kubernetes API and of the two gateways."""


@record
class NetworkOptions:
    """What the user says of the network. None: what the hosts say."""

    network: IPv4Network | None = None
    gateway: IPv4Address | None = None


@record
class AddressNeeds:
    """How many machines there are to be, and addresses that others have."""

    count: int
    taken: frozenset[IPv4Address] = frozenset()


@record
class ChosenNetwork:
    """The network of the machines, with all addresses that are given out."""

    bridge: str
    vlan: int | None
    """None: not tagged."""
    network: IPv4Network
    gateway: IPv4Address
    api: IPv4Address
    nodes: tuple[IPv4Address, ...]
    services: IPv4Address
    """Gateway for services of the local network."""
    names: IPv4Address
    """Gateway for names of the domain."""
    bridge_why: str
    network_why: str
    gateway_why: str


def choose_network(
    hosts: Sequence[StarterHost], wish: NetworkOptions, needed: AddressNeeds
) -> ChosenNetwork:
    """The network of so many machines on these hosts. `Refused` where nobody says which."""
    count = needed.count
    rows = _bridge(hosts, wish)
    first = next((one for one in rows if one.address is not None), rows[0])
    network = wish.network or first.network
    if network is None:
        raise Refused(problems.no_network(first.label))
    gateway, gateway_why = _gateway(rows, wish, network)
    taken = {gateway, *needed.taken, *_addresses(hosts)}
    free = _free(network, taken, count + _VIRTUAL)
    told = f"the network that hosts are in on {first.label}"
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
        network_why=told if network == first.network else "as --network says",
        gateway_why=gateway_why,
    )


def _bridge(hosts: Sequence[StarterHost], wish: NetworkOptions) -> list[StarterBridge]:
    """One bridge as every host has it: best in the network wanted, or with an address at all."""
    common = list(_common(hosts))
    if not common:
        raise Refused(problems.no_bridge([str(one.name) for one in hosts], _storage_summary(hosts)))

    def rank(rows: list[StarterBridge]) -> tuple[bool, bool, bool, str]:
        inside = wish.network is not None and any(one.network == wish.network for one in rows)
        leads_out = any(one.gateway is not None for one in rows)
        addressed = all(one.address is not None for one in rows)
        return not inside, not leads_out, not addressed, rows[0].label

    return min(common, key=rank)


def _common(hosts: Sequence[StarterHost]) -> Iterator[list[StarterBridge]]:
    for first in hosts[0].bridges:
        rows = [one for host in hosts for one in host.bridges if one.label == first.label]
        if len(rows) == len(hosts) and all(one.active for one in rows):
            yield rows


def _gateway(
    rows: Sequence[StarterBridge], wish: NetworkOptions, network: IPv4Network
) -> tuple[IPv4Address, str]:
    if wish.gateway is not None:
        if wish.gateway not in network:
            raise Refused(problems.gateway_outside(wish.gateway, network))
        return wish.gateway, "as --gateway says"
    for one in rows:
        if one.gateway is not None and one.gateway in network:
            return one.gateway, f"where hosts go out through {one.label}"
    return network[_ROUTER], "invented: the first address of the network"


def _free(network: IPv4Network, taken: set[IPv4Address], count: int) -> list[IPv4Address]:
    """Addresses in a row of which nobody has one; where there is no such row, single ones.

    Who has a few addresses of a row may well have virtual ones between them that nobody tells of.
    """
    size = network.num_addresses - 1
    for start in range(_FIRST, min(size - count, _LAST) + 1, _STEP):
        row = [network[place] for place in range(start, start + count)]
        if not taken & set(row):
            return row
    places = range(_ROUTER, min(size, _ROUTER + count + len(taken)))
    found = [network[place] for place in places if network[place] not in taken]
    if len(found) < count:
        raise Refused(problems.small_network(network, count))
    return found[:count]


def _addresses(hosts: Sequence[StarterHost]) -> Iterator[IPv4Address]:
    for host in hosts:
        for bridge in host.bridges:
            if bridge.address is not None:
                yield bridge.address.ip


def _bridge_why(rows: Sequence[StarterBridge], network: IPv4Network) -> str:
    where = "up on every host" if len(rows) > 1 else "up on the host"
    aware = "VLAN aware" if all(one.vlan_aware for one in rows) else "not VLAN aware"
    inside = any(one.network == network for one in rows)
    told = f", and hosts are in {network} on it" if inside else ""
    return f"{where}, {aware}{told}"


def _storage_summary(hosts: Sequence[StarterHost]) -> str:
    told = []
    for host in hosts:
        names = [f"{one.label}{'' if one.active else ' (down)'}" for one in host.bridges]
        told.append(f"{host.name}: {', '.join(names) or 'none'}")
    return "; ".join(told)
