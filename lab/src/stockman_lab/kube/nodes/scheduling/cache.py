"""All nodes with the pods on them, as the scheduler knows them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from stockman_lab.kube.nodes.scheduling.requests import (
    PODS,
    Amounts,
    amounts,
    believed_requests,
    requests,
)
from stockman_lab.kube.objects import Object, entries_of, metadata_of, part_of

_ENDED = frozenset({"Succeeded", "Failed"})
LabelSet = tuple[str, frozenset[tuple[str, str]]]
"""A namespace and labels: all that selectors ask of a pod."""
Port = tuple[str, str, int]
"""Protocol, address and number of a port of the host."""


class SchedulerPod:
    """A pod with the values that scheduling compares."""

    __slots__ = (
        "affinity",
        "believed",
        "label_set",
        "labels",
        "namespace",
        "pod",
        "ports",
        "priority",
        "wants",
    )

    def __init__(self, pod: Object) -> None:
        self.pod = pod
        metadata, spec = metadata_of(pod), part_of(pod, "spec")
        self.namespace: str = metadata.get("namespace", "")
        self.labels: dict[str, str] = metadata.get("labels") or {}
        self.label_set: LabelSet = (self.namespace, frozenset(self.labels.items()))
        self.wants = requests(pod)
        self.believed = believed_requests(pod)
        self.priority = int(spec.get("priority") or 0)
        self.affinity = part_of(spec, "affinity")
        self.ports: list[Port] = [
            (port.get("protocol", "TCP"), port.get("hostIP", "") or "0.0.0.0", port["hostPort"])
            for container in entries_of(spec, "containers")
            for port in entries_of(container, "ports")
            if port.get("hostPort")
        ]

    @property
    def name(self) -> str:
        return str(metadata_of(self.pod).get("name", ""))

    @property
    def uid(self) -> str:
        return str(metadata_of(self.pod).get("uid", ""))

    @property
    def is_going(self) -> bool:
        return bool(metadata_of(self.pod).get("deletionTimestamp"))

    @property
    def spec(self) -> Object:
        return part_of(self.pod, "spec")


@dataclass(slots=True)
class SchedulerNode:
    """A node with its pods."""

    node: Object
    name: str
    labels: dict[str, str]
    taints: list[Object]
    allocatable: Amounts
    is_closed: bool
    """Cordoned."""
    pods: dict[str, SchedulerPod] = field(default_factory=dict)
    """By identity of the pod."""
    used: Amounts = field(default_factory=dict)
    believed: Amounts = field(default_factory=dict)
    label_counts: dict[LabelSet, int] = field(default_factory=dict)
    """How many pods of which namespace and labels stay there."""

    def add(self, pod: SchedulerPod) -> None:
        """Count a pod that is on the node."""
        self.remove(pod.uid)
        self.pods[pod.uid] = pod
        self._count(pod, 1)

    def remove(self, uid: str) -> None:
        """Forget a pod that is no longer on the node."""
        pod = self.pods.pop(uid, None)
        if pod is not None:
            self._count(pod, -1)

    def _count(self, pod: SchedulerPod, sign: int) -> None:
        if not pod.is_going:
            count = self.label_counts.get(pod.label_set, 0) + sign
            if count:
                self.label_counts[pod.label_set] = count
            else:
                del self.label_counts[pod.label_set]
        for total, requested in ((self.used, pod.wants), (self.believed, pod.believed)):
            for name, value in requested.items():
                total[name] = total.get(name, 0) + sign * value

    @property
    def most_pods(self) -> int:
        return self.allocatable.get(PODS, 0)

    @property
    def ports(self) -> list[Port]:
        """Ports of the host that pods have."""
        return [port for pod in self.pods.values() for port in pod.ports]


def read_node(node: Object) -> SchedulerNode:
    """A node without pods."""
    metadata, spec = metadata_of(node), part_of(node, "spec")
    return SchedulerNode(
        node=node,
        name=metadata["name"],
        labels=metadata.get("labels") or {},
        taints=list(spec.get("taints") or []),
        allocatable=amounts(part_of(node, "status", "allocatable")),
        is_closed=bool(spec.get("unschedulable")),
    )


class SchedulerCache:
    """All nodes by name, in the order of their names."""

    def __init__(self, nodes: Iterable[Object] = (), pods: Iterable[Object] = ()) -> None:
        self.nodes: dict[str, SchedulerNode] = {}
        self._without_node: dict[str, dict[str, SchedulerPod]] = {}
        self._at: dict[str, str] = {}
        self.with_pod_affinity: dict[str, SchedulerPod] = {}
        """Pods that have something against others, or for them."""
        for node in nodes:
            self.update_node(node)
        for pod in pods:
            self.update_pod(pod)

    def update_node(self, node: Object) -> None:
        """Add or replace a node; its pods stay."""
        new = read_node(node)
        before = self.nodes.get(new.name)
        pods = self._without_node.pop(new.name, {}) if before is None else before.pods
        for pod in pods.values():
            new.add(pod)
        is_new = before is None
        self.nodes[new.name] = new
        if is_new:
            self.nodes = dict(sorted(self.nodes.items()))

    def remove_node(self, name: str) -> None:
        """Remove a node; its pods stay."""
        node = self.nodes.pop(name, None)
        if node is not None and node.pods:
            self._without_node[name] = node.pods

    def update_pod(self, content: Object) -> None:
        """Add or replace a pod."""
        uid = metadata_of(content).get("uid", "")
        node = part_of(content, "spec").get("nodeName", "")
        ended = part_of(content, "status").get("phase") in _ENDED
        if not node or ended:
            self.remove_pod(uid)
            return
        before = self._at.get(uid)
        if before is not None and before != node:
            self.remove_pod(uid)
        self._at[uid] = node
        pod = SchedulerPod(content)
        if "podAffinity" in pod.affinity or "podAntiAffinity" in pod.affinity:
            self.with_pod_affinity[uid] = pod
        known = self.nodes.get(node)
        if known is not None:
            known.add(pod)
        else:
            self._without_node.setdefault(node, {})[uid] = pod

    def remove_pod(self, uid: str) -> None:
        """Remove a pod that is gone or has ended."""
        node = self._at.pop(uid, None)
        self.with_pod_affinity.pop(uid, None)
        if node is None:
            return
        known = self.nodes.get(node)
        if known is not None:
            known.remove(uid)
        else:
            self._without_node.get(node, {}).pop(uid, None)

    def node_of(self, pod: SchedulerPod) -> SchedulerNode | None:
        """The node of a pod, where it is there."""
        return self.nodes.get(self._at.get(pod.uid, ""))
