"""What stops the Kubernetes stage, in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from stockman.kubernetes.objects import ObjectRef
from stockman.model.problem import Problem

_LONGEST = 300
"""Characters of a line of a log that are shown."""


def foreign_object(ref: ObjectRef, owners: Iterable[str], why: str) -> Problem:
    """An object of a name that we need belongs to somebody else."""
    told = ", ".join(owners) or "somebody else"
    return Problem(
        code="kube.foreign",
        what=f"{ref.shown} is not ours",
        where=ref.shown,
        why=f"{why}; it was written by {told}",
        fix="remove it, or hand it over: what stockman did not make it neither changes nor deletes",
    )


def chart_install_failure(release: str, where: str, why: str, lines: Sequence[str]) -> Problem:
    """A chart was not installed; the last lines of its pod say why."""
    said = " / ".join(one[:_LONGEST] for one in lines)
    told = f"{why}; helm said last: {said}" if said else f"{why}; its pod wrote nothing"
    return Problem(
        code="kube.install-failed",
        what=f"the chart of {release} was not installed",
        where=where,
        why=told,
        fix="put right what helm names, then run `stockman apply` again: it goes on from here",
    )


def secret_differs(ref: ObjectRef, owners: Iterable[str], keys: Iterable[str]) -> Problem:
    """A Secret holds something else, and somebody else put it there."""
    return foreign_object(ref, owners, f"it holds another value for {', '.join(keys)}")


def drain_timeout(node: str, seconds: float, left: Sequence[str]) -> Problem:
    """Pods did not leave a node in time."""
    return Problem(
        code="kube.drain-blocked",
        what=f"node {node} is not empty after {seconds:.0f} s",
        where=f"node {node}",
        why="; ".join(left),
        fix="let the budgets spare a pod (more replicas, or a smaller minAvailable), or delete"
        " what hangs, then run `stockman apply` again",
    )


def node_became_schedulable(node: str) -> Problem:
    """Somebody lets new pods come to a node that is being emptied."""
    return Problem(
        code="kube.uncordoned",
        what=f"node {node} takes new pods while it is emptied",
        where=f"node {node}",
        why="somebody, or something that follows Git, uncordoned it; pods that leave come back",
        fix="let whoever did that leave the node alone, then go on with `stockman runs resume`",
    )


def pods_without_owner(node: str, pods: Sequence[str]) -> Problem:
    """Pods that nobody would start again elsewhere."""
    return Problem(
        code="kube.bare-pods",
        what=f"node {node} has pods that nobody would start again",
        where=f"node {node}",
        why=f"no controller owns {', '.join(pods)}: evicted, they would be lost",
        fix="delete them yourself, or give them to a Deployment or Job",
    )


def missing_push(branch: str, why: str) -> Problem:
    """What the cluster is going to follow is not what was rendered."""
    return Problem(
        code="kube.unpushed",
        what="the repository of the cluster is not what was rendered",
        where=f"branch {branch}",
        why=why,
        fix="commit and push, or run `stockman apply --push`",
    )


def cluster_unreadable(why: str) -> Problem:
    """The cluster cannot be looked at."""
    return Problem(
        code="kube.unknown",
        what="nobody knows what is in the cluster",
        where="Kubernetes API",
        why=why,
        fix="see that the API answers (`stockman status`), then plan again",
    )


def missing_crds(name: str, version: str, known: Iterable[str]) -> Problem:
    """Definitions of a version that is not at hand."""
    return Problem(
        code="kube.definitions",
        what=f"the definitions of {name} {version} are not at hand",
        where=f"components.{name}.version",
        why=f"this stockman brings {', '.join(known)}",
        fix="take one of these versions, or leave the version out",
    )


def crd_unavailable(ref: ObjectRef, seconds: float, why: str) -> Problem:
    """The API server does not serve a kind that was defined."""
    return Problem(
        code="kube.not-served",
        what=f"the API server does not serve {ref.name} within {seconds:.0f} s",
        where=ref.shown,
        why=why,
        fix=f"see `kubectl describe crd {ref.name}`; another definition may have the same names",
    )


def reconcile_timeout(ref: ObjectRef, seconds: float, why: str) -> Problem:
    """Flux did not answer a request."""
    return Problem(
        code="kube.not-reconciled",
        what=f"Flux did not look at {ref.shown} within {seconds:.0f} s",
        where=ref.shown,
        why=why,
        fix="see whether the controllers of Flux run, and whether the object is suspended",
    )


def smoke_test_failure(component: str, seconds: float, left: Sequence[str]) -> Problem:
    """A component is there, and does not do what it is for."""
    return Problem(
        code="kube.trial-failed",
        what=f"{component} does not do what it is for",
        where=component,
        why=f"within {seconds:.0f} s this did not become true: {'; '.join(left)}",
        fix=f"run `stockman explain component {component}` for what usually goes wrong with it",
    )
