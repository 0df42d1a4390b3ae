"""Whether objects are what their specs want, by the rules that Flux, Helm and kubectl share."""

from __future__ import annotations

from collections.abc import Callable

from stockman_lab.kube.objects import Object, entries_of, metadata_of, part_of

CURRENT, IN_PROGRESS, FAILED = "Current", "InProgress", "Failed"
TERMINATING, NOT_FOUND = "Terminating", "NotFound"


def health(content: Object | None) -> str:
    """How an object is; None: there is none."""
    if content is None:
        return NOT_FOUND
    if metadata_of(content).get("deletionTimestamp"):
        return TERMINATING
    if _condition(content, "Stalled") == "True" or _condition(content, "Failed") == "True":
        return FAILED
    if _condition(content, "Progressing", "reason") == "ProgressDeadlineExceeded":
        return FAILED
    return IN_PROGRESS if missing(content) else CURRENT


def missing(content: Object | None) -> str:
    """What an object is waited for with; empty: it is as it should be."""
    if content is None:
        return NOT_FOUND
    if metadata_of(content).get("deletionTimestamp"):
        return TERMINATING
    generation = metadata_of(content).get("generation")
    observed = part_of(content, "status").get("observedGeneration", generation)
    if observed != generation:
        return "Observed generation doesn't match latest generation"
    group = str(content.get("apiVersion", "")).rpartition("/")[0]
    rule = _RULES.get(f"{group}/{content.get('kind')}")
    if rule is not None:
        return rule(content)
    if _condition(content, "Reconciling") == "True":
        return _condition(content, "Reconciling", "message") or "Reconciling"
    if "." in group and _condition(content, "Ready") not in {"", "True"}:
        return _condition(content, "Ready", "message") or "Ready condition is not True"
    return ""


def _condition(content: Object, kind: str, part: str = "status") -> str:
    for entry in entries_of(content, "status", "conditions"):
        if entry.get("type") == kind:
            return str(entry.get(part) or "")
    return ""


def _shortfall(content: Object, total: int, **names: str) -> str:
    """The first number of a status that is less than it shall be."""
    status = part_of(content, "status")
    for word, name in names.items():
        if status.get(name, 0) < total:
            return f"{word}: {status.get(name, 0)}/{total}"
    return ""


def _replicas(content: Object) -> int:
    return int(part_of(content, "spec").get("replicas", 1))


def _deployment(content: Object) -> str:
    status, total = part_of(content, "status"), _replicas(content)
    if "observedGeneration" not in status:
        return "Observed generation doesn't match latest generation"
    less = _shortfall(content, total, Updated="updatedReplicas", Available="availableReplicas")
    surplus = status.get("replicas", 0) - total
    return less or (f"Pending termination: {surplus}" if surplus > 0 else "")


def _replica_set(content: Object) -> str:
    return _shortfall(content, _replicas(content), Available="availableReplicas")


def _stateful_set(content: Object) -> str:
    status = part_of(content, "status")
    less = _shortfall(content, _replicas(content), Ready="readyReplicas")
    if not less and status.get("currentRevision") != status.get("updateRevision"):
        return f"Updated: {status.get('updatedReplicas', 0)}/{_replicas(content)}"
    return less


def _daemon_set(content: Object) -> str:
    total = part_of(content, "status").get("desiredNumberScheduled")
    if total is None:
        return "Observed generation doesn't match latest generation"
    names = {"Updated": "updatedNumberScheduled", "Available": "numberAvailable"}
    return _shortfall(content, total, **names)


def _by_condition(kind: str, why: str) -> Callable[[Object], str]:
    return lambda content: "" if _condition(content, kind) == "True" else why


def _pod(content: Object) -> str:
    is_done = part_of(content, "status").get("phase") == "Succeeded"
    return "" if is_done or _condition(content, "Ready") == "True" else "Pod is not ready"


def _claim(content: Object) -> str:
    return "" if part_of(content, "status").get("phase") == "Bound" else "PVC is not Bound"


_RULES: dict[str, Callable[[Object], str]] = {
    "apps/Deployment": _deployment,
    "apps/ReplicaSet": _replica_set,
    "apps/StatefulSet": _stateful_set,
    "apps/DaemonSet": _daemon_set,
    "batch/Job": _by_condition("Complete", "Job in progress"),
    "apiextensions.k8s.io/CustomResourceDefinition": _by_condition(
        "Established", "Install in progress"
    ),
    "/PersistentVolumeClaim": _claim,
    "/Pod": _pod,
}
