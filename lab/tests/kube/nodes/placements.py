"""Pods that look for a node: cases for the lab's scheduler and for the real one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
IMAGE = "example/program:1"
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


@dataclass(frozen=True)
class Case:
    """Nodes with pods, and one pod more."""

    name: str
    nodes: list[dict[str, Any]]
    pod: dict[str, Any]
    others: list[dict[str, Any]] = field(default_factory=list)
    claims: list[dict[str, Any]] = field(default_factory=list)


def node(
    name: str,
    *,
    cpu: str = "4",
    memory: str = "8Gi",
    pods: str = "110",
    labels: dict[str, str] | None = None,
    taints: tuple[tuple[str, str, str], ...] = (),
    closed: bool = False,
    more: dict[str, str] | None = None,
) -> dict[str, Any]:
    """A node that is ready."""
    room = {"cpu": cpu, "memory": memory, "pods": pods, "ephemeral-storage": "20Gi", **(more or {})}
    spec: dict[str, Any] = {}
    if taints:
        spec["taints"] = [
            {"key": key, "value": value, "effect": effect} for key, value, effect in taints
        ]
    if closed:
        spec["unschedulable"] = True
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {HOST: name, **(labels or {})}},
        "spec": spec,
        "status": {
            "allocatable": room,
            "capacity": room,
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def pod(
    name: str = "one",
    *,
    on: str = "",
    asks: dict[str, str] | None = None,
    labels: dict[str, str] | None = None,
    ports: tuple[int, ...] = (),
    **spec: Any,
) -> dict[str, Any]:
    """A pod with one container."""
    container: dict[str, Any] = {"name": "main", "image": IMAGE}
    if asks:
        container["resources"] = {"requests": asks}
        if any("/" in ask for ask in asks):
            container["resources"]["limits"] = {
                key: value for key, value in asks.items() if "/" in key
            }
    if ports:
        container["ports"] = [{"containerPort": port, "hostPort": port} for port in ports]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "labels": labels or {}},
        "spec": {**({"nodeName": on} if on else {}), "containers": [container], **spec},
    }


def _near(kind: str, app: str, key: str = HOST) -> dict[str, Any]:
    term = {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": key}
    return {kind: {_REQUIRED: [term]}}


def _likes(kind: str, app: str, key: str = HOST) -> dict[str, Any]:
    term = {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": key}
    return {kind: {_PREFERRED: [{"weight": 50, "podAffinityTerm": term}]}}


def _on_nodes(*expressions: dict[str, Any]) -> dict[str, Any]:
    terms = [{"matchExpressions": list(expressions)}]
    return {"nodeAffinity": {_REQUIRED: {"nodeSelectorTerms": terms}}}


def _named(*names: str) -> dict[str, Any]:
    fields = [{"key": "metadata.name", "operator": "In", "values": list(names)}]
    return {"nodeAffinity": {_REQUIRED: {"nodeSelectorTerms": [{"matchFields": fields}]}}}


def _is(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"key": key, "operator": operator, **({"values": list(values)} if values else {})}


def _spread(key: str, skew: int = 1, action: str = "DoNotSchedule") -> list[dict[str, Any]]:
    return [
        {
            "maxSkew": skew,
            "topologyKey": key,
            "whenUnsatisfiable": action,
            "labelSelector": {"matchLabels": {"app": "web"}},
        }
    ]


def _claim(name: str) -> dict[str, Any]:
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
        "storageClassName": "",
    }
    head = {"apiVersion": "v1", "kind": "PersistentVolumeClaim"}
    return {**head, "metadata": {"name": name, "namespace": "default"}, "spec": spec}


_CONTROL = ("node-role.kubernetes.io/control-plane", "", "NoSchedule")
_NOT_READY = ("node.kubernetes.io/not-ready", "", "NoSchedule")
_TWO = [node("a"), node("b")]
_WEB = {"app": "web"}
_ZONED = [
    node("a", labels={ZONE: "z1"}),
    node("b", labels={ZONE: "z1"}),
    node("c", labels={ZONE: "z2"}),
]

CASES = [
    Case("an empty cluster", [node("a")], pod()),
    Case(
        "the emptier node",
        _TWO,
        pod(asks={"cpu": "1", "memory": "1Gi"}),
        [pod("x", on="a", asks={"cpu": "1", "memory": "1Gi"})],
    ),
    Case(
        "a taint that is borne",
        [node("a", taints=(("gpu", "yes", "NoSchedule"),)), node("b", closed=True)],
        pod(tolerations=[{"key": "gpu", "operator": "Equal", "value": "yes"}]),
    ),
    Case(
        "a taint that is better avoided",
        [node("a", taints=(("gpu", "yes", "PreferNoSchedule"),)), node("b")],
        pod(),
    ),
    Case(
        "one with the label",
        [node("a"), node("b", labels={"disk": "fast"})],
        pod(nodeSelector={"disk": "fast"}),
    ),
    Case(
        "affinity to nodes",
        [node("a", labels={"n": "3"}), node("b", labels={"n": "7"}), node("c")],
        pod(affinity=_on_nodes(_is("n", "Gt", "5"), _is("disk", "DoesNotExist"))),
    ),
    Case(
        "a node that is preferred",
        [node("a"), node("b", labels={"disk": "fast"})],
        pod(
            affinity={
                "nodeAffinity": {
                    _PREFERRED: [
                        {
                            "weight": 10,
                            "preference": {"matchExpressions": [_is("disk", "Exists")]},
                        }
                    ]
                }
            }
        ),
    ),
    Case(
        "near a pod",
        _TWO,
        pod(affinity=_near("podAffinity", "db")),
        [pod("x", on="b", labels={"app": "db"})],
    ),
    Case("near itself", _TWO[:1], pod(labels=_WEB, affinity=_near("podAffinity", "web"))),
    Case(
        "a zone without the others",
        _ZONED,
        pod(labels=_WEB, affinity=_near("podAntiAffinity", "web", ZONE)),
        [pod("x", on="a", labels=_WEB)],
    ),
    Case(
        "a neighbour that is liked",
        _TWO,
        pod(affinity=_likes("podAffinity", "db")),
        [pod("x", on="b", labels={"app": "db"})],
    ),
    Case(
        "a neighbour that is not liked",
        _TWO,
        pod(labels=_WEB, affinity=_likes("podAntiAffinity", "web")),
        [pod("x", on="b", labels=_WEB)],
    ),
    Case(
        "spread over zones",
        _ZONED,
        pod(labels=_WEB, topologySpreadConstraints=_spread(ZONE)),
        [pod("x", on="a", labels=_WEB)],
    ),
    Case(
        "spread if possible",
        [*_TWO, node("c")],
        pod(labels=_WEB, topologySpreadConstraints=_spread(HOST, action="ScheduleAnyway")),
        [pod("x", on="a", labels=_WEB), pod("y", on="b", labels=_WEB)],
    ),
    Case(
        "a device",
        [node("a"), node("b", more={"nvidia.com/gpu": "1"})],
        pod(asks={"nvidia.com/gpu": "1"}),
    ),
    Case(
        "several reasons at once",
        [
            node("a", cpu="1"),
            node("b", taints=(_CONTROL,)),
            node("c", closed=True),
            node("d", labels={"disk": "slow"}),
            node("e", labels={"disk": "fast"}, memory="1Gi"),
        ],
        pod(asks={"cpu": "2", "memory": "2Gi"}, affinity=_on_nodes(_is("disk", "NotIn", "slow"))),
    ),
]
"""All of them."""

PRIORITIES: list[dict[str, Any]] = [
    {"metadata": {"name": "high"}, "value": 1000},
    {"metadata": {"name": "polite"}, "value": 500, "preemptionPolicy": "Never"},
]
"""Classes that pods of cases are of."""


def admitted(found: dict[str, Any]) -> dict[str, Any]:
    """A pod with what its class means."""
    name = found["spec"].get("priorityClassName")
    for priority in PRIORITIES:
        if priority["metadata"]["name"] == name:
            policy = priority.get("preemptionPolicy", "PreemptLowerPriority")
            more = {"priority": priority["value"], "preemptionPolicy": policy}
            return {**found, "spec": {**found["spec"], **more}}
    return found
