"""One decision of the scheduler: a node for a pod, or why there is none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from stockman_lab.kube.api.object_selectors import selects
from stockman_lab.kube.controllers.node_fitting import matches_term, selects_node, tolerates
from stockman_lab.kube.nodes.scheduling.cache import (
    Port,
    SchedulerCache,
    SchedulerNode,
    SchedulerPod,
)
from stockman_lab.kube.nodes.scheduling.requests import CPU, MEMORY
from stockman_lab.kube.objects import Object, entries_of, part_of

NO_NODES = "no nodes available to schedule pods"
REPELLING = frozenset({"NoSchedule", "NoExecute"})
_CLOSED = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_NEAR, _FAR = "podAffinity", "podAntiAffinity"
Reach = Mapping[str, list[dict[str, object]]]
"""Terms of nodes that volumes of a pod can be reached from, by name of the volume."""


def _no_labels(name: str) -> dict[str, str]:
    return {"kubernetes.io/metadata.name": name}


@dataclass(frozen=True, slots=True)
class Decision:
    """What becomes of a pod."""

    node: str = ""
    """Empty: there is none."""
    message: str = ""


@dataclass(slots=True)
class Scheduling:
    """Decides about pods on the nodes of the cache."""

    cache: SchedulerCache
    namespace_labels: Callable[[str], dict[str, str]] = field(default=_no_labels)

    def decide(self, content: Object, volumes: Reach | None = None) -> Decision:
        """A node for a pod: the best of those that fit, by name among equals."""
        pod = SchedulerPod(content)
        nodes = self.cache.nodes.values()
        if not nodes:
            return Decision(message=f"0/0 nodes are available: {NO_NODES}.")
        reasons: Counter[str] = Counter()
        fitting = []
        for node in nodes:
            result = list(self._reasons(pod, node, volumes or {}))
            reasons.update(result)
            if not result:
                fitting.append(node)
        if fitting:
            return Decision(max(fitting, key=lambda item: self._points(pod, item)).name)
        told = ", ".join(sorted(f"{count} {reason}" for reason, count in reasons.items()))
        return Decision(message=f"0/{len(nodes)} nodes are available: {told}.")

    # -- what a node has to have ---------------------------------------------------------------

    def _reasons(self, pod: SchedulerPod, node: SchedulerNode, volumes: Reach) -> Iterator[str]:
        """Why a pod cannot run on a node: of what only the first is told, then of resources."""
        reason = self._reason(pod, node, volumes)
        if reason:
            yield reason
            return
        if len(node.pods) + 1 > node.most_pods:
            yield "Too many pods"
        for name, desired in sorted(pod.wants.items()):
            if desired and desired > node.allocatable.get(name, 0) - node.used.get(name, 0):
                yield f"Insufficient {name}"

    def _reason(self, pod: SchedulerPod, node: SchedulerNode, volumes: Reach) -> str:
        tolerations = entries_of(pod.spec, "tolerations")
        taints = [taint for taint in node.taints if taint.get("effect") in REPELLING]
        if node.is_closed and not _bears(tolerations, _CLOSED):
            return "node(s) were unschedulable"
        if not all(_bears(tolerations, taint) for taint in taints):
            return "node(s) had untolerated taint(s)"
        if not selects_node(pod.spec, node.node):
            return "node(s) didn't match Pod's node affinity/selector"
        if any(_clash(port, other) for port in pod.ports for other in node.ports):
            return "node(s) didn't have free ports for the requested pod ports"
        for terms in volumes.values():
            if not any(matches_term(term, node.labels, node.name) for term in terms):
                return "node(s) didn't match PersistentVolume's node affinity"
        if not self._is_spread(pod, node):
            return "node(s) didn't match pod topology spread constraints"
        near = entries_of(pod.affinity, _NEAR, _REQUIRED)
        if not all(self._count(term, pod, node) or self._is_first(term, pod) for term in near):
            return "node(s) didn't match pod affinity rules"
        far = entries_of(pod.affinity, _FAR, _REQUIRED)
        if any(self._count(term, pod, node) for term in far):
            return "node(s) didn't match pod anti-affinity rules"
        return self._anti_affinity_reason(pod, node)

    def _anti_affinity_reason(self, pod: SchedulerPod, node: SchedulerNode) -> str:
        """Whether a pod that is there does not want the new one near it."""
        for other in self.cache.with_pod_affinity.values():
            other_node = self.cache.node_of(other)
            if other_node is None:
                continue
            for term in entries_of(other.affinity, _FAR, _REQUIRED):
                key = term.get("topologyKey", "")
                is_near = node.labels.get(key) == other_node.labels.get(key)
                if is_near and self._means(term, other, pod):
                    return "node(s) didn't satisfy existing pods anti-affinity rules"
        return ""

    def _is_spread(self, pod: SchedulerPod, node: SchedulerNode) -> bool:
        for rule in entries_of(pod.spec, "topologySpreadConstraints"):
            if rule.get("whenUnsatisfiable") != "DoNotSchedule":
                continue
            key = rule["topologyKey"]
            counts: Counter[str] = Counter()
            for other_node in self.cache.nodes.values():
                if key in other_node.labels and selects_node(pod.spec, other_node.node):
                    counts[other_node.labels[key]] += _alike(rule, pod, other_node)
            least = min(counts.values(), default=0)
            if len(counts) < int(rule.get("minDomains") or 1):
                least = 0
            if key not in node.labels or counts[node.labels[key]] + 1 - least > rule["maxSkew"]:
                return False
        return True

    # -- pods near others ----------------------------------------------------------------------

    def _count(self, term: Object, pod: SchedulerPod, node: SchedulerNode) -> int:
        """How many pods that a term means are in the same part of the cluster as a node."""
        key = term.get("topologyKey", "")
        return sum(
            self._means(term, pod, other)
            for other_node in self.cache.nodes.values()
            if key in node.labels and other_node.labels.get(key) == node.labels[key]
            for other in other_node.pods.values()
        )

    def _is_first(self, term: Object, pod: SchedulerPod) -> bool:
        """Whether a pod is the first of those that want to be together."""
        others = (pod for node in self.cache.nodes.values() for pod in node.pods.values())
        return self._means(term, pod, pod) and not any(
            self._means(term, pod, other) for other in others
        )

    def _means(self, term: Object, owner: SchedulerPod, pod: SchedulerPod) -> bool:
        names, chosen = term.get("namespaces") or [], term.get("namespaceSelector")
        is_near = pod.namespace in (names or [owner.namespace])
        if not is_near and chosen is not None:
            is_near = selects(chosen, self.namespace_labels(pod.namespace))
        return is_near and selects(term.get("labelSelector"), pod.labels)

    # -- how good a node is --------------------------------------------------------------------

    def _points(self, pod: SchedulerPod, node: SchedulerNode) -> tuple[float, ...]:
        tolerations = entries_of(pod.spec, "tolerations")
        avoided = sum(
            taint.get("effect") == "PreferNoSchedule" and not _bears(tolerations, taint)
            for taint in node.taints
        )
        preferred = sum(
            int(entry.get("weight", 0))
            for entry in entries_of(pod.affinity, "nodeAffinity", _PREFERRED)
            if matches_term(part_of(entry, "preference"), node.labels, node.name)
        )
        for kind, sign in ((_NEAR, 1), (_FAR, -1)):
            for entry in entries_of(pod.affinity, kind, _PREFERRED):
                count = self._count(part_of(entry, "podAffinityTerm"), pod, node)
                preferred += sign * int(entry.get("weight", 0)) * count
        crowd = node.label_counts.get(pod.label_set, 0)
        for rule in entries_of(pod.spec, "topologySpreadConstraints"):
            value = node.labels.get(rule["topologyKey"])
            for other_node in self.cache.nodes.values():
                if other_node.labels.get(rule["topologyKey"]) == value:
                    crowd += _alike(rule, pod, other_node)
        free = [
            1 - (node.believed.get(name, 0) + pod.believed.get(name, 0)) / node.allocatable[name]
            for name in (CPU, MEMORY)
            if node.allocatable.get(name)
        ]
        return -avoided, preferred, -crowd, sum(free)


def _bears(tolerations: list[Object], taint: Object) -> bool:
    return any(tolerates(toleration, taint) for toleration in tolerations)


def _alike(rule: Object, pod: SchedulerPod, node: SchedulerNode) -> int:
    """How many pods on a node a rule about spreading means."""
    return sum(
        other.namespace == pod.namespace
        and not other.is_going
        and selects(rule.get("labelSelector"), other.labels)
        for other in node.pods.values()
    )


def _clash(port: Port, other: Port) -> bool:
    anywhere = "0.0.0.0"
    same_address = port[1] == other[1] or anywhere in (port[1], other[1])
    return port[0] == other[0] and port[2] == other[2] and same_address
