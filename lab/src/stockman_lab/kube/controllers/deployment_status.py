"""The status of a deployment: numbers, availability, progress."""

from __future__ import annotations

from stockman_lab.kube.controllers.moments import read_time
from stockman_lab.kube.controllers.pods import without_zeros
from stockman_lab.kube.objects import Object, metadata_of, part_of, written_time

_NO_DEADLINE = 2_147_483_647


def replicas(content: Object) -> int:
    """How many pods a deployment or a replica set shall have."""
    number: int = part_of(content, "spec").get("replicas", 1)
    return number


def status_number(content: Object, name: str) -> int:
    """A number of a status."""
    number: int = part_of(content, "status").get(name, 0)
    return number


def find_condition(status: Object, kind: str) -> Object | None:
    """A condition by its type."""
    conditions = status.get("conditions") or []
    return next((condition for condition in conditions if condition["type"] == kind), None)


def deadline(deployment: Object) -> int | None:
    """Seconds within which there has to be progress; None: there is no such limit."""
    seconds = part_of(deployment, "spec").get("progressDeadlineSeconds")
    return None if seconds in (None, _NO_DEADLINE) else int(seconds)


def is_complete(deployment: Object, status: Object) -> bool:
    """Whether all pods are new and available."""
    count = replicas(deployment)
    names = ("updatedReplicas", "replicas", "availableReplicas")
    is_seen = status.get("observedGeneration", 0) >= metadata_of(deployment)["generation"]
    return is_seen and all(status.get(name, 0) == count for name in names)


def deployment_status(
    deployment: Object, sets: list[Object], new: Object | None, now: float, most_missing: int
) -> Object:
    """The status with new numbers and conditions."""
    old = part_of(deployment, "status")
    available = sum(status_number(replica_set, "availableReplicas") for replica_set in sets)
    planned = sum(map(replicas, sets))
    status: Object = {"observedGeneration": metadata_of(deployment)["generation"]}
    status |= without_zeros(
        {
            "replicas": sum(status_number(replica_set, "replicas") for replica_set in sets),
            "updatedReplicas": 0 if new is None else status_number(new, "replicas"),
            "readyReplicas": sum(
                status_number(replica_set, "readyReplicas") for replica_set in sets
            ),
            "availableReplicas": available,
            "unavailableReplicas": max(planned - available, 0),
        }
    )
    status["terminatingReplicas"] = sum(
        status_number(replica_set, "terminatingReplicas") for replica_set in sets
    )
    status["conditions"] = [dict(condition) for condition in old.get("conditions") or []]
    if available >= replicas(deployment) - most_missing:
        word = ("True", "MinimumReplicasAvailable", "Deployment has minimum availability.")
    else:
        text = "Deployment does not have minimum availability."
        word = ("False", "MinimumReplicasUnavailable", text)
    _put_condition(status, "Available", word, now)
    progress = _progress(deployment, status, new, now)
    if progress is not None:
        _put_condition(status, "Progressing", progress, now, moves=progress[1].endswith("Updated"))
    failures = (
        find_condition(part_of(replica_set, "status"), "ReplicaFailure") for replica_set in sets
    )
    failure = next((one for one in failures if one is not None), None)
    if failure is None:
        conditions = status["conditions"]
        status["conditions"] = [one for one in conditions if one["type"] != "ReplicaFailure"]
    else:
        word = ("True", str(failure["reason"]), str(failure["message"]))
        _put_condition(status, "ReplicaFailure", word, now)
    return status


def _progress(
    deployment: Object, status: Object, new: Object | None, now: float
) -> tuple[str, str, str] | None:
    """Status, reason and message of how the rollout goes; None: as before."""
    limit, known = deadline(deployment), find_condition(status, "Progressing")
    if limit is None:
        return None
    if part_of(deployment, "spec").get("paused"):
        return "Unknown", "DeploymentPaused", "Deployment is paused"
    what = "Deployment" if new is None else "ReplicaSet"
    name = metadata_of(deployment if new is None else new)["name"]
    if is_complete(deployment, status):
        text = f'{what} "{name}" has successfully progressed.'
        return "True", "NewReplicaSetAvailable", text
    old = part_of(deployment, "status")
    is_rolled_out = known is not None and known["reason"] == "NewReplicaSetAvailable"
    if is_rolled_out and status.get("replicas", 0) == status.get("updatedReplicas", 0):
        return None
    names = ("updatedReplicas", "readyReplicas", "availableReplicas")
    grown = any(status.get(name, 0) > old.get(name, 0) for name in names)
    if known is None or grown or _old_replicas(status) < _old_replicas(old):
        return "True", "ReplicaSetUpdated", f'{what} "{name}" is progressing.'
    if read_time(known["lastUpdateTime"]) + limit < now:
        text = f'{what} "{name}" has timed out progressing.'
        return "False", "ProgressDeadlineExceeded", text
    return None


def _old_replicas(status: Object) -> int:
    return int(status.get("replicas", 0)) - int(status.get("updatedReplicas", 0))


def _put_condition(
    status: Object, kind: str, word: tuple[str, str, str], now: float, *, moves: bool = False
) -> None:
    """Put a condition last, unless it says the same already; `moves`: also then."""
    before = find_condition(status, kind) or {}
    value, reason, message = word
    if not moves and (before.get("status"), before.get("reason")) == (value, reason):
        return
    today = written_time(now)
    since = before["lastTransitionTime"] if before.get("status") == value else today
    result = {
        "type": kind,
        "status": value,
        "lastUpdateTime": today,
        "lastTransitionTime": since,
        "reason": reason,
        "message": message,
    }
    others = [condition for condition in status["conditions"] if condition["type"] != kind]
    status["conditions"] = [*others, result]
