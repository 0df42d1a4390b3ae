"""Nodes, and the conditions of nodes and pods."""

from __future__ import annotations

from stockman.model.record import record


@record
class Condition:
    """A condition of a node or a pod."""

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
    """A taint of a node."""

    key: str
    effect: str
    """`NoSchedule`, `NoExecute`, `PreferNoSchedule`."""
    value: str = ""
    added: str = ""
    """When it was added, as an RFC 3339 time. Empty: unknown."""


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
    """Version of the kubelet, `v1.36.3`. Empty: not yet known."""
    operating_system: str
    """`Talos (v1.14.1)`. Empty: not yet known."""
    boot_id: str
    machine_id: str
    provider_id: str
    """`proxmox://region/100`. Empty: not set by a cloud controller."""
    allocatable: dict[str, str]

    @property
    def is_ready(self) -> bool:
        """Whether the condition `Ready` is true."""
        return any(condition.type == "Ready" and condition.holds for condition in self.conditions)

    @property
    def internal_addresses(self) -> tuple[str, ...]:
        return tuple(address for kind, address in self.addresses if kind == "InternalIP")
