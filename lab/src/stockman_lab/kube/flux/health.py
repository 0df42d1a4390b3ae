"""Whether an object is what its spec wants, by the rules that kubectl's libraries share."""

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
    observed = part_of(content, "status").get("observedGeneration")
    if observed is not None and observed != metadata_of(content).get("generation"):
        return IN_PROGRESS
    if _condition(content, "Reconciling") == "True":
        return IN_PROGRESS
    if _condition(content, "Stalled") == "True":
        return FAILED
    group = str(content.get("apiVersion", "")).rpartition("/")[0]
    rule = _RULES.get(f"{group}/{content.get('kind')}")
    if rule is not None:
        return rule(content)
    ready = _condition(content, "Ready")
    return CURRENT if ready in {"", "True"} else IN_PROGRESS


def _condition(content: Object, kind: str, part: str = "status") -> str:
    for entry in entries_of(content, "status", "conditions"):
        if entry.get("type") == kind:
            return str(entry.get(part) or "")
    return ""


def _when(is_current: bool) -> str:
    return CURRENT if is_current else IN_PROGRESS


def _number(content: Object, *names: str, default: int = 0) -> int:
    found = part_of(content, *names[:-1]).get(names[-1])
    return default if found is None else int(found)


def _deployment(content: Object) -> str:
    if _condition(content, "Progressing", "reason") == "ProgressDeadlineExceeded":
        return FAILED
    number = _number(content, "spec", "replicas", default=1)
    total, updated, ready, available = (
        _number(content, "status", name)
        for name in ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas")
    )
    is_there = number <= updated and number <= ready and total <= number and updated <= available
    has_word = _condition(content, "Available") == "True"
    return _when(is_there and total >= number and has_word)


def _replica_set(content: Object) -> str:
    number = _number(content, "spec", "replicas", default=1)
    if _condition(content, "ReplicaFailure") == "True":
        return IN_PROGRESS
    names = ("fullyLabeledReplicas", "availableReplicas", "readyReplicas", "replicas")
    return _when(all(_number(content, "status", name) == number for name in names))


def _stateful_set(content: Object) -> str:
    strategy = part_of(content, "spec", "updateStrategy")
    if strategy.get("type") == "OnDelete":
        return CURRENT
    number = _number(content, "spec", "replicas", default=1)
    total, ready = (
        _number(content, "status", "replicas"),
        _number(content, "status", "readyReplicas"),
    )
    if total != number or ready < number:
        return IN_PROGRESS
    partition = _number(strategy, "rollingUpdate", "partition", default=-1)
    if partition > 0:
        return _when(_number(content, "status", "updatedReplicas") >= number - partition)
    status = part_of(content, "status")
    is_one = status.get("currentRevision") == status.get("updateRevision")
    return _when(_number(content, "status", "currentReplicas") >= number and is_one)


def _daemon_set(content: Object) -> str:
    status = part_of(content, "status")
    if "observedGeneration" not in status or "desiredNumberScheduled" not in status:
        return IN_PROGRESS
    number = _number(content, "status", "desiredNumberScheduled")
    names = ("currentNumberScheduled", "updatedNumberScheduled", "numberAvailable", "numberReady")
    return _when(all(_number(content, "status", name) >= number for name in names))


def _job(content: Object) -> str:
    if _condition(content, "Failed") == "True":
        return FAILED
    return _when(_condition(content, "Complete") == "True")


def _definition(content: Object) -> str:
    if _condition(content, "NamesAccepted") == "False":
        return FAILED
    return _when(_condition(content, "Established") == "True")


def _claim(content: Object) -> str:
    return _when(part_of(content, "status").get("phase") == "Bound")


def _pod(content: Object) -> str:
    phase = part_of(content, "status").get("phase")
    if phase == "Failed":
        return FAILED
    return _when(phase == "Succeeded" or _condition(content, "Ready") == "True")


def _service(content: Object) -> str:
    spec = part_of(content, "spec")
    return _when(spec.get("type") != "LoadBalancer" or bool(spec.get("clusterIP")))


def _current(_: Object) -> str:
    return CURRENT


_RULES: dict[str, Callable[[Object], str]] = {
    "apps/Deployment": _deployment,
    "apps/ReplicaSet": _replica_set,
    "apps/StatefulSet": _stateful_set,
    "apps/DaemonSet": _daemon_set,
    "batch/Job": _job,
    "batch/CronJob": _current,
    "apiextensions.k8s.io/CustomResourceDefinition": _definition,
    "/PersistentVolumeClaim": _claim,
    "/Pod": _pod,
    "/Service": _service,
    "policy/PodDisruptionBudget": _current,
}
