"""How often each system was asked, and what that number grows with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from stockman.model.record import record
from stockman.planning.fact import is_known
from stockman.planning.observed_kubernetes import ObservedKubernetes
from stockman.planning.observed_proxmox import ObservedProxmox
from stockman.planning.observed_talos import ObservedTalos


@record
class SystemCalls:
    """The calls to one system."""

    system: str
    calls: int
    of: Mapping[str, int]
    """How much there is of what the number grows with, by its name."""
    grows: str
    """`O(hosts + guests)`."""
    by_call: Mapping[str, int] = field(default_factory=dict)
    """By the name of the call, where that was counted."""


def proxmox_calls(seen: ObservedProxmox) -> SystemCalls:
    """Of a Proxmox cluster: lists of everything, a configuration per guest, images per storage."""
    hosts = len(seen.state.value.members) if is_known(seen.state) else 0
    return SystemCalls(
        system=f"Proxmox VE cluster {seen.name}",
        calls=seen.calls,
        of={"hosts": hosts, "guests": len(seen.configs)},
        grows="O(hosts + guests)",
    )


def talos_calls(seen: ObservedTalos) -> SystemCalls:
    """Of the machines: a few questions to each."""
    return SystemCalls(
        system="Talos",
        calls=seen.call_count,
        of={"nodes": len(seen.machines)},
        grows="O(nodes)",
        by_call=seen.calls,
    )


def kubernetes_calls(seen: ObservedKubernetes) -> SystemCalls:
    """Of Kubernetes: a list of each kind, and single objects of ours."""
    return SystemCalls(
        system="Kubernetes",
        calls=seen.calls,
        of={"nodes": len(seen.nodes or ())},
        grows="O(components)",
    )
