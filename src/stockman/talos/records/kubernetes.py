"""What a machine knows of the Kubernetes that it is a part of."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Protocol

from stockman.model.names import MachineAddress
from stockman.model.record import record
from stockman.model.secret import Secret


@record
class StaticPod:
    """A pod of the control plane on one machine."""

    id: str
    """`kube-system/kube-apiserver-cp-1`."""
    ready: bool
    phase: str = ""


@record
class KubeletState:
    """The kubelet of a machine."""

    image: str
    nodename: str


@record
class KubernetesNode:
    """The machine as Kubernetes sees it."""

    name: str
    ready: bool
    unschedulable: bool


class KubernetesParts(Protocol):
    """Parts of Kubernetes on a machine."""

    async def static_pods(self, node: MachineAddress) -> tuple[StaticPod, ...]:
        """Pods of the control plane. Empty: there are none, as on workers."""
        ...

    async def kubelet(self, node: MachineAddress) -> KubeletState:
        """Image and name of the kubelet. `NotFound` where it is not set up yet."""
        ...

    async def kubernetes_node(self, node: MachineAddress) -> KubernetesNode:
        """The machine as Kubernetes sees it. `NotFound` where Kubernetes does not know it yet."""
        ...


class Clients(Protocol):
    """Files that let somebody in; only machines of the control plane make them."""

    async def kubeconfig(self, node: MachineAddress) -> Secret:
        """A kubeconfig for an admin."""
        ...

    async def client_configuration(
        self, node: MachineAddress, roles: Iterable[str], lifetime: timedelta
    ) -> Secret:
        """A talosconfig with these roles; it has no endpoints."""
        ...
