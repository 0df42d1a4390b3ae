"""Problems of the Kubernetes stage."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from stockman.kubernetes.objects import ObjectRef
from stockman.model.problem import Problem

_MAX_LINE = 300
"""Maximum number of characters shown of a log line."""


def foreign_object(ref: ObjectRef, owners: Iterable[str], why: str) -> Problem:
    """Others manage an object with a name that we need."""
    managers = ", ".join(owners) or "others"
    return Problem(
        code="kube.foreign",
        what=f"{ref.shown} is not managed by stockman",
        where=ref.shown,
        why=f"{why}; it is managed by {managers}",
        fix="delete or rename it; stockman does not change objects that it did not create",
    )


def chart_install_failure(release: str, where: str, why: str, lines: Sequence[str]) -> Problem:
    """A chart was not installed; the last lines of its pod tell why."""
    log = " / ".join(line[:_MAX_LINE] for line in lines)
    reason = f"{why}; last log lines: {log}" if log else f"{why}; the log of its pod is empty"
    return Problem(
        code="kube.install-failed",
        what=f"the chart of {release} was not installed",
        where=where,
        why=reason,
        fix="fix the cause, then run `stockman apply` again; it continues from here",
    )


def secret_differs(ref: ObjectRef, owners: Iterable[str], keys: Iterable[str]) -> Problem:
    """A Secret has another value, which others wrote."""
    return foreign_object(ref, owners, f"its value differs for {', '.join(keys)}")


def drain_timeout(node: str, seconds: float, left: Sequence[str]) -> Problem:
    """Pods did not leave a node in time."""
    return Problem(
        code="kube.drain-blocked",
        what=f"node {node} was not drained within {seconds:.0f} s",
        where=f"node {node}",
        why="; ".join(left),
        fix="let the disruption budgets allow an eviction (more replicas, or a smaller"
        " minAvailable), or delete pods that do not terminate, then run `stockman apply` again",
    )


def node_became_schedulable(node: str) -> Problem:
    """A node was uncordoned while it was drained."""
    return Problem(
        code="kube.uncordoned",
        what=f"node {node} was uncordoned while it was drained",
        where=f"node {node}",
        why="a user or a GitOps tool uncordoned it; evicted pods return to it",
        fix="stop that user or tool, then run `stockman runs resume`",
    )


def pods_without_owner(node: str, pods: Sequence[str]) -> Problem:
    """A node has pods without a controller."""
    return Problem(
        code="kube.bare-pods",
        what=f"node {node} has pods without a controller",
        where=f"node {node}",
        why=f"nothing recreates {', '.join(pods)} after an eviction",
        fix="delete them yourself, or let a Deployment or Job manage them",
    )


def missing_push(branch: str, why: str, pull_request: str = "") -> Problem:
    """The branch that the cluster follows differs from the rendered files."""
    fix = "commit and push, or run `stockman apply --push`"
    if pull_request:
        fix = f"merge branch {pull_request} into {branch}, and run `git pull`"
    return Problem(
        code="kube.unpushed",
        what="the rendered files are not pushed",
        where=f"branch {branch}",
        why=why,
        fix=fix,
    )


def cluster_unreadable(why: str) -> Problem:
    """The state of the cluster cannot be read."""
    return Problem(
        code="kube.unknown",
        what="the state of the cluster cannot be read",
        where="Kubernetes API",
        why=why,
        fix="make sure that the API answers (`stockman status`), then plan again",
    )


def missing_crds(name: str, version: str, known: Iterable[str]) -> Problem:
    """CRDs of a version that is not included."""
    return Problem(
        code="kube.definitions",
        what=f"the CRDs of {name} {version} are not included",
        where=f"components.{name}.version",
        why=f"this version of stockman includes {', '.join(known)}",
        fix="use one of these versions, or remove the setting",
    )


def crd_unavailable(ref: ObjectRef, seconds: float, why: str) -> Problem:
    """The API server does not serve the kind of a CRD."""
    return Problem(
        code="kube.not-served",
        what=f"the API server did not serve {ref.name} within {seconds:.0f} s",
        where=ref.shown,
        why=why,
        fix=f"run `kubectl describe crd {ref.name}`; another CRD may use the same names",
    )


def reconcile_timeout(ref: ObjectRef, seconds: float, why: str) -> Problem:
    """Flux did not reconcile an object in time."""
    return Problem(
        code="kube.not-reconciled",
        what=f"Flux did not reconcile {ref.shown} within {seconds:.0f} s",
        where=ref.shown,
        why=why,
        fix="check that the controllers of Flux run, and that the object is not suspended",
    )


def smoke_test_failure(component: str, seconds: float, unmet: Sequence[str]) -> Problem:
    """The smoke test of a component failed."""
    return Problem(
        code="kube.smoke-test-failed",
        what=f"the smoke test of {component} failed",
        where=component,
        why=f"not true within {seconds:.0f} s: {'; '.join(unmet)}",
        fix=f"see the known problems in `stockman explain component {component}`",
    )
