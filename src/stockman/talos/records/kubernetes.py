"""What a machine knows of the Kubernetes that it is a part of."""

from __future__ import annotations

from stockman.model.record import record


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
