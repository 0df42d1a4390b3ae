"""The observed state of all systems, and the number of API calls that it took."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime

from stockman.model.names import MachineAddress
from stockman.model.record import record
from stockman.planning.fact import is_known
from stockman.planning.observed.kubernetes import ObservedKubernetes, ObservedNode
from stockman.planning.observed.proxmox import ObservedProxmox
from stockman.planning.observed.talos import ObservedTalos


@record
class SystemCalls:
    """The number of calls to one system."""

    system: str
    calls: int
    of: Mapping[str, int]
    """The numbers that the calls grow with, by name."""
    grows: str
    """`O(hosts + guests)`."""
    by_call: Mapping[str, int] = field(default_factory=dict)
    """By the name of the call, where counted."""


def proxmox_calls(observed: ObservedProxmox) -> SystemCalls:
    """Return the calls to a Proxmox cluster: a few lists, and one call per guest and storage."""
    hosts = len(observed.state.value.members) if is_known(observed.state) else 0
    return SystemCalls(
        system=f"Proxmox VE cluster {observed.name}",
        calls=observed.calls,
        of={"hosts": hosts, "guests": len(observed.configs)},
        grows="O(hosts + guests)",
    )


def talos_calls(observed: ObservedTalos) -> SystemCalls:
    """Return the calls to the machines: a few per node."""
    return SystemCalls(
        system="Talos",
        calls=observed.call_count,
        of={"nodes": len(observed.machines)},
        grows="O(nodes)",
        by_call=observed.calls,
    )


def kubernetes_calls(observed: ObservedKubernetes) -> SystemCalls:
    """Return the calls to Kubernetes: a list of each kind, and single objects."""
    return SystemCalls(
        system="Kubernetes",
        calls=observed.calls,
        of={"nodes": len(observed.nodes or ())},
        grows="O(components)",
    )


@record
class Observed:
    """The state of all systems."""

    at: datetime
    proxmox: Mapping[str, ObservedProxmox] = field(default_factory=dict)
    """By region; clusters that cannot be queried are missing."""
    talos: ObservedTalos | None = None
    """None: there are no machines, or no credentials for them."""
    kubernetes: ObservedKubernetes | None = None
    """None: not queried. An API that does not answer has no version."""
    leaving: Mapping[str, MachineAddress] = field(default_factory=dict)
    """Managed machines that are no longer configured, by name."""
    earlier_etcd: str = ""
    """Which recorded run knows an etcd, if no member answers. Empty: none."""
    beyond_proxmox: bool = True
    """Whether machines and Kubernetes were queried; a part of a plan may need neither."""

    @property
    def api_answers(self) -> bool:
        return self.kubernetes is not None and self.kubernetes.version is not None

    def node(self, name: str) -> ObservedNode | None:
        """Return a node of Kubernetes. None: it does not exist, or the API does not answer."""
        if self.kubernetes is None or not self.api_answers:
            return None
        return self.kubernetes.node(name)

    @property
    def counted(self) -> tuple[SystemCalls, ...]:
        """The number of calls to each system."""
        counts = [proxmox_calls(proxmox) for proxmox in self.proxmox.values()]
        if self.talos is not None:
            counts.append(talos_calls(self.talos))
        if self.kubernetes is not None:
            counts.append(kubernetes_calls(self.kubernetes))
        return tuple(counts)
