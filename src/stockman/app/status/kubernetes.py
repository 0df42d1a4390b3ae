"""Kubernetes: its API, its nodes, and who says where they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from stockman.app.status import cluster_problems as say
from stockman.app.status.chain import Chain, of
from stockman.app.status.finding import Check, Finding, Part, off, part, unknown, warning
from stockman.app.status.health import Health
from stockman.app.status.kubelet_link import condition
from stockman.app.status.seen import Seen
from stockman.app.status.topology import judged_controllers


def judged_kubernetes(seen: Seen, found: tuple[Chain, ...]) -> Part:
    """The API and all nodes."""
    cluster = seen.desired.cluster
    if cluster is None:
        return off(Check.KUBERNETES, "no cluster is configured")
    kubernetes = seen.kubernetes
    if kubernetes is None:
        return part(Check.KUBERNETES, "the API does not answer", [api_silent(seen)])
    if kubernetes.nodes is None:
        why = kubernetes.unknown.get("nodes", "not told")
        finding = unknown("the nodes of Kubernetes", why, "look again with `stockman status`")
        return part(Check.KUBERNETES, f"{kubernetes.version}, nodes not known", [finding])
    ready = sum(one.node.kubelet.ready is True for one in found)
    versions = Counter(one.node.kubelet.version for one in found if one.node.kubelet.version)
    told = ", ".join(name for name, _ in versions.most_common())
    others = [one for one in kubernetes.nodes if one.name not in _wanted(seen)]
    more = f", {len(others)} nodes of others" if others else ""
    text = f"{ready} of {len(found)} nodes ready, API {kubernetes.version}"
    text += f", kubelets {told}{more}" if told else more
    least = Health.OK if ready == len(found) and found else Health.ERROR
    findings = [*of(found, Check.KUBERNETES), *_strangers(seen), *judged_controllers(seen)]
    return part(Check.KUBERNETES, text, findings, least=least)


def api_silent(seen: Seen) -> Finding:
    """That the API does not answer, or was not asked."""
    observed, cluster = seen.observed.kubernetes, seen.desired.cluster
    if observed is None or cluster is None:
        fix = "look again with `stockman status`"
        return unknown("Kubernetes", "nobody asked its API", fix)
    why = observed.unknown.get("version", "it does not tell its version")
    problem = say.api_silent(str(cluster.kubernetes.api_addr), why)
    return Finding(subject="Kubernetes API", problem=problem)


def _wanted(seen: Seen) -> frozenset[str]:
    return frozenset(str(node.name) for node in seen.desired.nodes)


def _strangers(seen: Seen) -> Iterator[Finding]:
    """Nodes that others made, such as Karpenter: told, and no reason to call the cluster ill."""
    wanted = _wanted(seen)
    for name, node in seen.nodes.items():
        if name not in wanted:
            for one in condition(node, seen):
                yield Finding(subject=one.subject, problem=warning(one.problem))
