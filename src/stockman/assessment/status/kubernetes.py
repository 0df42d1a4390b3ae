"""Kubernetes: its API, its nodes, and who says where they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from stockman.assessment.status import cluster_problems as say
from stockman.assessment.status.findings import (
    Health,
    StatusCheck,
    StatusFinding,
    StatusItem,
    StatusPart,
    as_warning,
    build_part,
    disabled_part,
    unknown_finding,
)
from stockman.assessment.status.kubelet_link import assess_controllers, node_condition
from stockman.assessment.status.nodes import NodeChain, findings_of
from stockman.assessment.status.observed import StatusInput
from stockman.planning.kubernetes.desired import FOLLOWED
from stockman.planning.observed.kubernetes import ObservedKubernetes


def assess_kubernetes(seen: StatusInput, found: tuple[NodeChain, ...]) -> StatusPart:
    """The API and all nodes."""
    cluster = seen.desired.cluster
    if cluster is None:
        return disabled_part(StatusCheck.KUBERNETES, "no cluster is configured")
    kubernetes = seen.kubernetes
    if kubernetes is None:
        return build_part(StatusCheck.KUBERNETES, "the API does not answer", [api_silent(seen)])
    if kubernetes.nodes is None:
        why = kubernetes.unknown.get("nodes", "not told")
        finding = unknown_finding(
            "the nodes of Kubernetes", why, "look again with `stockman status`"
        )
        return build_part(
            StatusCheck.KUBERNETES, f"{kubernetes.version}, nodes not known", [finding]
        )
    ready = sum(one.node.kubelet.ready is True for one in found)
    versions = Counter(one.node.kubelet.version for one in found if one.node.kubelet.version)
    told = ", ".join(name for name, _ in versions.most_common())
    others = [one for one in kubernetes.nodes if one.name not in _desired_nodes(seen)]
    more = f", {len(others)} nodes of others" if others else ""
    text = f"{ready} of {len(found)} nodes ready, API {kubernetes.version}"
    text += f", kubelets {told}{more}" if told else more
    least = Health.OK if ready == len(found) and found else Health.ERROR
    findings = [
        *findings_of(found, StatusCheck.KUBERNETES),
        *_foreign_nodes(seen),
        *assess_controllers(seen),
    ]
    return build_part(StatusCheck.KUBERNETES, text, findings, least=least)


def api_silent(seen: StatusInput) -> StatusFinding:
    """That the API does not answer, or was not asked."""
    observed, cluster = seen.observed.kubernetes, seen.desired.cluster
    if observed is None or cluster is None:
        fix = "look again with `stockman status`"
        return unknown_finding("Kubernetes", "nobody asked its API", fix)
    why = observed.unknown.get("version", "it does not tell its version")
    problem = say.api_silent(str(cluster.kubernetes.api_addr), why)
    return StatusFinding(subject="Kubernetes API", problem=problem)


def _desired_nodes(seen: StatusInput) -> frozenset[str]:
    return frozenset(str(node.name) for node in seen.desired.nodes)


def _foreign_nodes(seen: StatusInput) -> Iterator[StatusFinding]:
    """Nodes that others made, such as Karpenter: told, and no reason to call the cluster ill."""
    wanted = _desired_nodes(seen)
    for name, node in seen.nodes.items():
        if name not in wanted:
            for one in node_condition(node, seen):
                yield StatusFinding(subject=one.subject, problem=as_warning(one.problem))


def assess_components(seen: StatusInput) -> StatusPart:
    """Every component that is on, by the conditions of the catalog."""
    if seen.desired.cluster is None or seen.wish is None:
        return disabled_part(StatusCheck.COMPONENTS, "no cluster is configured")
    names = [one for one in seen.wish.conditions if one != FOLLOWED]
    kubernetes = seen.kubernetes
    if kubernetes is None:
        text = "not known: the API does not answer"
        items = [StatusItem(name=one, health=Health.UNKNOWN, seen="not known") for one in names]
        return build_part(StatusCheck.COMPONENTS, text, [api_silent(seen)], items, Health.UNKNOWN)
    items = [_component_item(kubernetes, one) for one in names]
    good = sum(one.health is Health.OK for one in items)
    findings = [finding for name in names for finding in _component_findings(kubernetes, name)]
    return build_part(StatusCheck.COMPONENTS, f"{good} of {len(names)} work", findings, items)


def _component_item(kubernetes: ObservedKubernetes, name: str) -> StatusItem:
    found = kubernetes.working.get(name)
    if found is None:
        return StatusItem(name=name, health=Health.UNKNOWN, seen="not known")
    missing = [one for one in found if not one.holds]
    told = "; ".join(f"{one.condition.says} ({one.seen})" for one in missing)
    return StatusItem(
        name=name,
        health=Health.ERROR if missing else Health.OK,
        seen=f"not yet: {told}" if missing else "works",
    )


def _component_findings(kubernetes: ObservedKubernetes, name: str) -> Iterator[StatusFinding]:
    found = kubernetes.working.get(name)
    if found is None:
        why = "what it consists of could not be read"
        yield unknown_finding(f"component {name}", why, "look again with `stockman status`")
        return
    for one in found:
        if not one.holds:
            problem = say.component_not_ready(name, one.condition.says, one.seen)
            yield StatusFinding(subject=name, problem=problem)
            return
