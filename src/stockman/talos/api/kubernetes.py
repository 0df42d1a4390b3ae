"""Calls on the parts of Kubernetes that a machine runs."""

from __future__ import annotations

from stockman.model.names import MachineAddress
from stockman.ports.talos.kubernetes import KubeletState, KubernetesNode, StaticPod
from stockman.talos.api.resources import Kind, ResourceCalls
from stockman.talos.api.rows import Row, parts, text, text_or_none, told_yes

_PODS = Kind(namespace="k8s", type="StaticPodStatuses.kubernetes.talos.dev")
_KUBELET = Kind(namespace="k8s", type="KubeletSpecs.kubernetes.talos.dev")
_NODE = Kind(namespace="k8s", type="NodeStatuses.kubernetes.talos.dev")
_NODENAME = Kind(namespace="k8s", type="Nodenames.kubernetes.talos.dev")


class KubernetesCalls(ResourceCalls):
    """`ports.talos.kubernetes.KubernetesParts` over a wire."""

    async def static_pods(self, node: MachineAddress) -> tuple[StaticPod, ...]:
        return await self._resources(node, _PODS, _pod)

    async def kubelet(self, node: MachineAddress) -> KubeletState:
        return await self._resource(node, _KUBELET, "kubelet", _kubelet)

    async def kubernetes_node(self, node: MachineAddress) -> KubernetesNode:
        name = await self._resource(node, _NODENAME, "nodename", lambda row: text(row, "nodename"))
        return await self._resource(node, _NODE, name, _node)


def _pod(name: str, row: Row) -> StaticPod:
    return StaticPod(id=name, ready=_is_ready(row), phase=text_or_none(row, "phase"))


def _is_ready(row: Row) -> bool:
    """A pod that tells nothing of being ready is not."""
    return any(
        one.get("type") == "Ready" and one.get("status") == "True"
        for one in parts(row, "conditions")
    )


def _kubelet(row: Row) -> KubeletState:
    return KubeletState(image=text(row, "image"), nodename=text(row, "expectedNodename"))


def _node(row: Row) -> KubernetesNode:
    return KubernetesNode(
        name=text(row, "nodename"),
        ready=told_yes(row, "nodeReady"),
        unschedulable=told_yes(row, "unschedulable"),
    )
