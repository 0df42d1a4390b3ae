"""Which nodes a health check is about."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stockman.talos.api.transport import GrpcCode
from stockman_lab.talos.api.refusal import Refusal

if TYPE_CHECKING:
    from stockman.talos.wire.values import Dynamic
    from stockman_lab.talos.machine import Machine


@dataclass(frozen=True, slots=True)
class Node:
    """One node by its addresses; the first one is what it is called by."""

    addresses: tuple[str, ...]

    @property
    def address(self) -> str:
        return self.addresses[0]


@dataclass(frozen=True, slots=True)
class Nodes:
    """Nodes of a cluster by their part in it."""

    controllers: tuple[Node, ...]
    workers: tuple[Node, ...]

    @property
    def every(self) -> tuple[Node, ...]:
        return (*self.controllers, *self.workers)


def nodes_asked_for(request: Dynamic, machine: Machine) -> Nodes:
    """Those that a request names, or all members that the machine knows of."""
    cluster_info = request.cluster_info
    if cluster_info.control_plane_nodes or cluster_info.worker_nodes:
        return Nodes(_given(cluster_info.control_plane_nodes), _given(cluster_info.worker_nodes))
    members = sorted(machine.land.members(machine), key=lambda one: one.hostname)
    members = [member for member in members if member.address]
    return Nodes(
        tuple(_node(member) for member in members if member.is_controlplane),
        tuple(_node(member) for member in members if not member.is_controlplane),
    )


def _given(texts: Sequence[str]) -> tuple[Node, ...]:
    for text in texts:
        try:
            ipaddress.ip_address(text)
        except ValueError:
            message = f'ParseAddr("{text}"): unable to parse IP'
            raise Refusal(GrpcCode.UNKNOWN, message) from None
    return tuple(Node((text,)) for text in texts)


def _node(machine: Machine) -> Node:
    own = machine.address
    shared = {
        address.address.partition("/")[0]
        for address in machine.state.network.addresses
        if address.is_vip
    }
    local = {
        address.address.partition("/")[0]
        for address in machine.state.network.addresses
        if address.link == "lo" or address.scope != "global"
    }
    addresses = [
        address for address in machine.addresses if address != own and address not in shared | local
    ]
    return Node((own, *addresses))
