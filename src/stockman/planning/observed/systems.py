"""How often each system was asked, and what that number grows with."""

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


@record
class Observed:
    """One look at everything."""

    at: datetime
    proxmox: Mapping[str, ObservedProxmox] = field(default_factory=dict)
    """By region; those that cannot be asked are missing."""
    talos: ObservedTalos | None = None
    """None: there are no machines to ask, or nothing to ask them with."""
    kubernetes: ObservedKubernetes | None = None
    """None: nobody looked. An API that does not answer has no version."""
    leaving: Mapping[str, MachineAddress] = field(default_factory=dict)
    """Machines that are ours and not wanted any more, by name."""
    beyond_proxmox: bool = True
    """Whether machines and Kubernetes were looked at; a part of a plan may need neither."""

    @property
    def api_answers(self) -> bool:
        return self.kubernetes is not None and self.kubernetes.version is not None

    def node(self, name: str) -> ObservedNode | None:
        """A node as Kubernetes knows it. None: it does not, or does not answer."""
        if self.kubernetes is None or not self.api_answers:
            return None
        return self.kubernetes.node(name)

    @property
    def counted(self) -> tuple[SystemCalls, ...]:
        """How often each system was asked."""
        found = [proxmox_calls(one) for one in self.proxmox.values()]
        if self.talos is not None:
            found.append(talos_calls(self.talos))
        if self.kubernetes is not None:
            found.append(kubernetes_calls(self.kubernetes))
        return tuple(found)
