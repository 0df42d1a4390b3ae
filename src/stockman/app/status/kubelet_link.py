"""The third link of a node: its Node of Kubernetes."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.app.status import cluster_problems as say
from stockman.app.status.finding import Finding, warning
from stockman.app.status.health import Health, worst
from stockman.app.status.machine_problems import version
from stockman.app.status.node import KubeletLink
from stockman.app.status.seen import Seen
from stockman.app.status.topology import judged_topology
from stockman.model.desired import Node
from stockman.model.version import Version
from stockman.planning.observed_kubernetes import SeenNode

Judged = tuple[KubeletLink, tuple[Finding, ...]]


def judged_kubelet(node: Node, seen: Seen) -> Judged:
    """The Node of a node, and what is wrong with it."""
    name = str(node.name)
    kubernetes = seen.kubernetes
    if kubernetes is None or kubernetes.nodes is None:
        return KubeletLink(health=Health.UNKNOWN, seen="not known"), ()
    found = seen.nodes.get(name)
    if found is None:
        finding = Finding(subject=name, problem=say.node_missing(name, seen.address_of(name)))
        return KubeletLink(health=Health.ERROR, seen="missing", ready=False), (finding,)
    findings = (
        *condition(found, seen),
        *_version(found, seen),
        *judged_topology(node, found, seen),
    )
    return link(found, findings), findings


def link(found: SeenNode, findings: tuple[Finding, ...]) -> KubeletLink:
    """A Node as it was seen."""
    words = ["ready" if found.is_ready else "not ready"]
    if found.unschedulable:
        words.append("cordoned")
    if found.is_uninitialized:
        words.append("uninitialized")
    return KubeletLink(
        health=worst(one.health for one in findings),
        seen=", ".join(words),
        version=found.kubelet,
        ready=found.is_ready,
        region=found.region,
        zone=found.zone,
        provider_id=found.provider_id,
        created=found.created,
    )


def condition(found: SeenNode, seen: Seen) -> Iterator[Finding]:
    """What is wrong with a Node itself."""
    name = found.name
    if not found.is_ready:
        yield Finding(subject=name, problem=say.node_not_ready(name, found.why))
    held = seen.runs.cordoned if seen.runs is not None else frozenset()
    if found.unschedulable and name not in held:
        yield Finding(subject=name, problem=warning(say.node_cordoned(name)))
    for one in found.pressures:
        yield Finding(subject=name, problem=say.node_pressure(name, one))


def _version(found: SeenNode, seen: Seen) -> Iterator[Finding]:
    cluster = seen.desired.cluster
    if cluster is None or not found.kubelet:
        return
    wanted = cluster.kubernetes.version
    if Version.parse(found.kubelet) != wanted:
        problem = version(found.name, "kubelet", found.kubelet, wanted.tagged)
        yield Finding(subject=found.name, problem=warning(problem))
