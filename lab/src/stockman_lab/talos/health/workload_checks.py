"""Checks of what runs in Kubernetes: its proxy and its DNS, by their objects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from stockman_lab.talos.health.kubernetes_checks import registered, skip_without_network
from stockman_lab.talos.health.outcome import Failing, Skipped, plain

if TYPE_CHECKING:
    from stockman_lab.talos.health.checking import Checking

Tree = Mapping[str, object]
_NAMESPACE = "kube-system"
_LABEL = "k8s-app"


async def proxy_is_ready(checking: Checking) -> None:
    """kube-proxy runs on all nodes, where there is one at all."""
    _all_ready(checking, "daemonsets", "kube-proxy", ("status", "desiredNumberScheduled"))


async def dns_is_ready(checking: Checking) -> None:
    """CoreDNS runs, where there is one and a network of pods."""
    skip_without_network(checking)
    _all_ready(checking, "deployments", "kube-dns", ("spec", "replicas"))


def _all_ready(checking: Checking, plural: str, app: str, count: tuple[str, str]) -> None:
    """Pods of the first such object are ready, and as many as it wants."""
    registered(checking)
    owner = next(iter(_labelled(checking, plural, app)), None)
    if owner is None:
        raise Skipped
    pods = [one for one in _labelled(checking, "pods", app) if _counts(one)]
    ready = [pod for pod in pods if _is_ready(pod)]
    if not ready:
        raise Failing(
            f'no ready pods found for namespace "{_NAMESPACE}" and label selector "{_LABEL}={app}"'
        )
    late = [str(_part(pod, "metadata")["name"]) for pod in pods if pod not in ready]
    if late:
        raise Failing(f"some pods are not ready: {plain(late)}")
    wanted = _part(owner, count[0]).get(count[1], 0)
    if len(ready) != wanted:
        raise Failing(f"expected {wanted} ready pods, got {len(ready)}")


def _labelled(checking: Checking, plural: str, app: str) -> list[Tree]:
    call = checking.call
    side = call.land.kubernetes
    found = side.listed(call.machine, plural) if side is not None else ()
    return [
        one
        for one in found
        if _part(one, "metadata").get("namespace") == _NAMESPACE
        and _part(_part(one, "metadata"), "labels").get(_LABEL) == app
    ]


def _counts(pod: Tree) -> bool:
    """Whether a pod is there to stay: neither deleted nor failed nor over."""
    if _part(pod, "metadata").get("deletionTimestamp") or _part(pod, "status").get("phase") in (
        "Failed",
        "Succeeded",
    ):
        return False
    states = _part(pod, "status").get("containerStatuses")
    known = states if isinstance(states, list) else []
    return any("terminated" not in _part(one, "state") for one in known)


def _is_ready(pod: Tree) -> bool:
    conditions = _part(pod, "status").get("conditions")
    return isinstance(conditions, list) and any(
        condition.get("type") == "Ready" and condition.get("status") == "True"
        for condition in conditions
    )


def _part(content: Tree, name: str) -> Tree:
    found = content.get(name)
    return found if isinstance(found, Mapping) else {}
