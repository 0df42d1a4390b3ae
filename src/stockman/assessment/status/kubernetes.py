"""Status of the Kubernetes API, nodes and components."""

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
    part_off,
    unknown_finding,
)
from stockman.assessment.status.kubelet_link import assess_controllers, node_condition
from stockman.assessment.status.nodes import NodeChain, findings_of
from stockman.assessment.status.observed import StatusInput
from stockman.planning.kubernetes.desired import FOLLOWED
from stockman.planning.observed.kubernetes import ObservedKubernetes


def assess_kubernetes(state: StatusInput, chains: tuple[NodeChain, ...]) -> StatusPart:
    """Assess the API and all nodes."""
    cluster = state.desired.cluster
    if cluster is None:
        return part_off(StatusCheck.KUBERNETES, "no cluster is configured")
    kubernetes = state.kubernetes
    if kubernetes is None:
        return build_part(StatusCheck.KUBERNETES, "the API does not answer", [api_silent(state)])
    if kubernetes.nodes is None:
        why = kubernetes.unknown.get("nodes", "not told")
        finding = unknown_finding(
            "the nodes of Kubernetes", why, "look again with `stockman status`"
        )
        return build_part(
            StatusCheck.KUBERNETES, f"{kubernetes.version}, nodes not known", [finding]
        )
    ready = sum(chain.node.kubelet.ready is True for chain in chains)
    versions = Counter(chain.node.kubelet.version for chain in chains if chain.node.kubelet.version)
    version_text = ", ".join(name for name, _ in versions.most_common())
    foreign = [node for node in kubernetes.nodes if node.name not in _node_names(state)]
    more = f", {len(foreign)} nodes of others" if foreign else ""
    text = f"{ready} of {len(chains)} nodes ready, API {kubernetes.version}"
    text += f", kubelets {version_text}{more}" if version_text else more
    least = Health.OK if ready == len(chains) and chains else Health.ERROR
    findings = [
        *findings_of(chains, StatusCheck.KUBERNETES),
        *_foreign_nodes(state),
        *assess_controllers(state),
    ]
    return build_part(StatusCheck.KUBERNETES, text, findings, least=least)


def api_silent(state: StatusInput) -> StatusFinding:
    """Return a finding for an API that does not answer or was not queried."""
    observed, cluster = state.observed.kubernetes, state.desired.cluster
    if observed is None or cluster is None:
        fix = "look again with `stockman status`"
        return unknown_finding("Kubernetes", "nobody asked its API", fix)
    why = observed.unknown.get("version", "it does not tell its version")
    problem = say.api_silent(str(cluster.kubernetes.api_addr), why)
    return StatusFinding(subject="Kubernetes API", problem=problem)


def _node_names(state: StatusInput) -> frozenset[str]:
    return frozenset(str(node.name) for node in state.desired.nodes)


def _foreign_nodes(state: StatusInput) -> Iterator[StatusFinding]:
    """Report nodes created by others, such as Karpenter; the cluster stays healthy."""
    desired = _node_names(state)
    for name, node in state.nodes.items():
        if name not in desired:
            for finding in node_condition(node, state):
                yield StatusFinding(subject=finding.subject, problem=as_warning(finding.problem))


def assess_components(state: StatusInput) -> StatusPart:
    """Assess every enabled component by its readiness conditions in the catalog."""
    if state.desired.cluster is None or state.desired_kubernetes is None:
        return part_off(StatusCheck.COMPONENTS, "no cluster is configured")
    names = [
        condition for condition in state.desired_kubernetes.conditions if condition != FOLLOWED
    ]
    kubernetes = state.kubernetes
    if kubernetes is None:
        text = "not known: the API does not answer"
        items = [
            StatusItem(name=name, health=Health.UNKNOWN, summary="not known") for name in names
        ]
        return build_part(StatusCheck.COMPONENTS, text, [api_silent(state)], items, Health.UNKNOWN)
    items = [_component_item(kubernetes, name) for name in names]
    good = sum(item.health is Health.OK for item in items)
    findings = [finding for name in names for finding in _component_findings(kubernetes, name)]
    return build_part(StatusCheck.COMPONENTS, f"{good} of {len(names)} work", findings, items)


def _component_item(kubernetes: ObservedKubernetes, name: str) -> StatusItem:
    conditions = kubernetes.working.get(name)
    if conditions is None:
        return StatusItem(name=name, health=Health.UNKNOWN, summary="not known")
    missing = [condition for condition in conditions if not condition.holds]
    description = "; ".join(
        f"{condition.condition.says} ({condition.seen})" for condition in missing
    )
    return StatusItem(
        name=name,
        health=Health.ERROR if missing else Health.OK,
        summary=f"not yet: {description}" if missing else "works",
    )


def _component_findings(kubernetes: ObservedKubernetes, name: str) -> Iterator[StatusFinding]:
    conditions = kubernetes.working.get(name)
    if conditions is None:
        why = "what it consists of could not be read"
        yield unknown_finding(f"component {name}", why, "look again with `stockman status`")
        return
    for condition in conditions:
        if not condition.holds:
            problem = say.component_not_ready(name, condition.condition.says, condition.seen)
            yield StatusFinding(subject=name, problem=problem)
            return
