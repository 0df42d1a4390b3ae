"""Nodes, as far as they are looked at often."""

from __future__ import annotations

from typing import Protocol

from stockman.kubernetes.objects import Selection
from stockman.model.record import record


@record
class Condition:
    """What is true of a node or a pod."""

    type: str
    """`Ready`, `MemoryPressure`."""
    status: str
    """`True`, `False`, `Unknown`."""
    reason: str = ""
    message: str = ""

    @property
    def holds(self) -> bool:
        return self.status == "True"


@record
class Taint:
    """What keeps pods away."""

    key: str
    effect: str
    """`NoSchedule`, `NoExecute`, `PreferNoSchedule`."""
    value: str = ""


@record
class Node:
    """A node."""

    name: str
    uid: str
    version: str
    """Its resourceVersion."""
    labels: dict[str, str]
    conditions: tuple[Condition, ...]
    taints: tuple[Taint, ...]
    addresses: tuple[tuple[str, str], ...]
    """Type and address: `InternalIP`, `10.42.0.11`."""
    unschedulable: bool
    kubelet: str
    """Version of the kubelet, `v1.36.3`. Empty: not told yet."""
    operating_system: str
    """`Talos (v1.14.1)`. Empty: not told yet."""
    boot_id: str
    machine_id: str
    provider_id: str
    """`proxmox://region/100`. Empty: no cloud controller has said so."""
    allocatable: dict[str, str]

    @property
    def is_ready(self) -> bool:
        """A node that does not tell is not."""
        return any(one.type == "Ready" and one.holds for one in self.conditions)

    @property
    def internal_addresses(self) -> tuple[str, ...]:
        return tuple(address for kind, address in self.addresses if kind == "InternalIP")


class Nodes(Protocol):
    """Nodes of the cluster."""

    async def node(self, name: str) -> Node:
        """One node. `NotFound` where Kubernetes does not know it."""
        ...

    async def nodes(self, selection: Selection | None = None) -> tuple[Node, ...]:
        """All nodes that are meant, by name."""
        ...
