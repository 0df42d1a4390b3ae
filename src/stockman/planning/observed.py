"""What is there, in all systems together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime

from stockman.model.names import MachineAddress
from stockman.model.record import record
from stockman.planning.observed_calls import (
    SystemCalls,
    kubernetes_calls,
    proxmox_calls,
    talos_calls,
)
from stockman.planning.observed_kubernetes import ObservedKubernetes, SeenNode
from stockman.planning.observed_proxmox import ObservedProxmox
from stockman.planning.observed_talos import ObservedTalos


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

    def node(self, name: str) -> SeenNode | None:
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
