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
    told = request.cluster_info
    if told.control_plane_nodes or told.worker_nodes:
        return Nodes(_given(told.control_plane_nodes), _given(told.worker_nodes))
    members = sorted(machine.land.members(machine), key=lambda one: one.hostname)
    members = [one for one in members if one.address]
    return Nodes(
        tuple(_node(one) for one in members if one.is_controlplane),
        tuple(_node(one) for one in members if not one.is_controlplane),
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
        one.address.partition("/")[0] for one in machine.state.network.addresses if one.is_vip
    }
    local = {
        one.address.partition("/")[0]
        for one in machine.state.network.addresses
        if one.link == "lo" or one.scope != "global"
    }
    others = [one for one in machine.addresses if one != own and one not in shared | local]
    return Node((own, *others))
