"""Decisions of the scheduler."""

from __future__ import annotations

from typing import Any

import pytest
from stockman_lab.kube.nodes.scheduling.cache import SchedulerCache
from stockman_lab.kube.nodes.scheduling.deciding import Decision, Scheduling

HOST = "kubernetes.io/hostname"
WEB = {"matchLabels": {"app": "web"}}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
TERM = {"labelSelector": WEB, "topologyKey": HOST}
SPREAD = {"maxSkew": 1, "topologyKey": HOST, "labelSelector": WEB}


def node(name: str, cpu: str = "4", **spec: Any) -> dict[str, Any]:
    room = {"cpu": cpu, "memory": "8Gi", "pods": "110"}
    metadata = {"name": name, "labels": {HOST: name}}
    return {"metadata": metadata, "spec": spec, "status": {"allocatable": room}}


def pod(name: str = "new", cpu: str = "1", **spec: Any) -> dict[str, Any]:
    container = {"name": "main", "resources": {"requests": {"cpu": cpu}}}
    metadata = {"name": name, "uid": name, "namespace": "default", "labels": {"app": "web"}}
    return {"metadata": metadata, "spec": {"containers": [container], **spec}}


def decide(new: dict[str, Any], *nodes: dict[str, Any], on_a: int = 1) -> Decision:
    """What becomes of a pod where some of its kind are on the node a."""
    others = [pod(f"old-{number}", cpu="100m", nodeName="a") for number in range(on_a)]
    return Scheduling(SchedulerCache(nodes, others)).decide(new)


@pytest.mark.parametrize(
    ("new", "best"),
    [
        (pod(), "b"),
        (pod(nodeSelector={HOST: "a"}), "a"),
        (pod(affinity={"podAffinity": {REQUIRED: [TERM]}}), "a"),
        (pod(affinity={"podAntiAffinity": {REQUIRED: [TERM]}}), "b"),
        (
            pod(affinity={"podAffinity": {PREFERRED: [{"weight": 1, "podAffinityTerm": TERM}]}}),
            "a",
        ),
        (pod(topologySpreadConstraints=[{**SPREAD, "whenUnsatisfiable": "DoNotSchedule"}]), "b"),
        (pod(topologySpreadConstraints=[{**SPREAD, "whenUnsatisfiable": "ScheduleAnyway"}]), "b"),
    ],
)
def test_the_best_node_is_chosen(new: dict[str, Any], best: str) -> None:
    assert decide(new, node("a"), node("b")).node == best


def test_a_taint_is_avoided_or_tolerated() -> None:
    taint = {"key": "k", "effect": "NoSchedule"}
    nodes = (node("a"), node("b", taints=[taint]))
    assert decide(pod(), *nodes).node == "a"
    assert decide(pod(tolerations=[{"operator": "Exists"}]), *nodes).node == "b"


def test_a_refusal_counts_reasons() -> None:
    nodes = (node("a", cpu="500m"), node("b", cpu="500m"), node("c", unschedulable=True))
    assert decide(pod(), *nodes).message == (
        "0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu."
    )
