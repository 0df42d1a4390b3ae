"""What a deployment says of itself: numbers, availability, progress."""

from __future__ import annotations

from stockman_lab.kube.controllers.amounts import without_zeros
from stockman_lab.kube.controllers.deployment_replicas import most_unavailable, told, wanted
from stockman_lab.kube.controllers.moments import read_time
from stockman_lab.kube.objects import Object, metadata_of, part_of

_NO_DEADLINE = 2_147_483_647


def found_condition(status: Object, kind: str) -> Object | None:
    """A condition by its type."""
    for condition in status.get("conditions") or []:
        if condition["type"] == kind:
            return dict(condition)
    return None


def set_condition(  # noqa: PLR0913  # the parts of a condition
    status: Object, kind: str, value: str, reason: str, message: str, now: str
) -> None:
    """Put a condition last, unless it says the same already."""
    old = found_condition(status, kind)
    if old is not None and old["status"] == value and old["reason"] == reason:
        return
    put_condition(status, kind, value, reason, message, now)


def put_condition(  # noqa: PLR0913  # the parts of a condition
    status: Object, kind: str, value: str, reason: str, message: str, now: str
) -> None:
    """Put a condition last, whatever it said."""
    old = found_condition(status, kind)
    since = now if old is None or old["status"] != value else old["lastTransitionTime"]
    conditions = [
        condition for condition in status.get("conditions") or [] if condition["type"] != kind
    ]
    made = {
        "type": kind,
        "status": value,
        "lastUpdateTime": now,
        "lastTransitionTime": since,
        "reason": reason,
        "message": message,
    }
    status["conditions"] = [*conditions, made]


def deadline(deployment: Object) -> int | None:
    """Seconds within which there has to be progress; None: there is no such limit."""
    progress_deadline_seconds = part_of(deployment, "spec").get("progressDeadlineSeconds")
    return (
        None
        if progress_deadline_seconds is None or progress_deadline_seconds == _NO_DEADLINE
        else int(progress_deadline_seconds)
    )


def counted(deployment: Object, sets: list[Object], new: Object | None, now: str) -> Object:
    """The status with new numbers."""
    old = part_of(deployment, "status")
    available = sum(told(one, "availableReplicas") for one in sets)
    planned = sum(wanted(one) for one in sets)
    status: Object = {"observedGeneration": metadata_of(deployment)["generation"]}
    status |= without_zeros(
        {
            "replicas": sum(told(one, "replicas") for one in sets),
            "updatedReplicas": 0 if new is None else told(new, "replicas"),
            "readyReplicas": sum(told(one, "readyReplicas") for one in sets),
            "availableReplicas": available,
            "unavailableReplicas": max(planned - available, 0),
        }
    )
    status["terminatingReplicas"] = sum(told(one, "terminatingReplicas") for one in sets)
    status["conditions"] = list(old.get("conditions") or [])
    if old.get("collisionCount"):
        status["collisionCount"] = old["collisionCount"]
    if available >= wanted(deployment) - most_unavailable(deployment):
        text = "Deployment has minimum availability."
        set_condition(status, "Available", "True", "MinimumReplicasAvailable", text, now)
    else:
        text = "Deployment does not have minimum availability."
        set_condition(status, "Available", "False", "MinimumReplicasUnavailable", text, now)
    return status


def is_complete(deployment: Object, status: Object) -> bool:
    """Whether all pods are new and available."""
    count = wanted(deployment)
    return bool(
        status.get("updatedReplicas", 0) == count
        and status.get("replicas", 0) == count
        and status.get("availableReplicas", 0) == count
        and status.get("observedGeneration", 0) >= metadata_of(deployment)["generation"]
    )


def is_progressing(old: Object, new: Object) -> bool:
    """Whether there are more new pods, fewer old ones, or more that can be used."""

    def number(status: Object, name: str) -> int:
        number: int = status.get(name, 0)
        return number

    def outdated(status: Object) -> int:
        return number(status, "replicas") - number(status, "updatedReplicas")

    return (
        number(new, "updatedReplicas") > number(old, "updatedReplicas")
        or outdated(new) < outdated(old)
        or number(new, "readyReplicas") > number(old, "readyReplicas")
        or number(new, "availableReplicas") > number(old, "availableReplicas")
    )


def is_late(deployment: Object, status: Object, now: float) -> bool:
    """Whether nothing has moved for too long."""
    limit, found = deadline(deployment), found_condition(status, "Progressing")
    if limit is None or found is None or found["reason"] == "NewReplicaSetAvailable":
        return False
    if found["reason"] == "ProgressDeadlineExceeded":
        return True
    return read_time(found["lastUpdateTime"]) + limit < now


def tell_progress(  # the parts of a condition
    deployment: Object, status: Object, new: Object | None, moment: float, now: str
) -> None:
    """Note how the rollout goes."""
    if deadline(deployment) is None:
        status["conditions"] = [
            condition for condition in status["conditions"] if condition["type"] != "Progressing"
        ]
        return
    current = found_condition(status, "Progressing")
    ended = current is not None and current["reason"] == "NewReplicaSetAvailable"
    if ended and status.get("replicas", 0) == status.get("updatedReplicas", 0):
        return
    what = f'Deployment "{metadata_of(deployment)["name"]}"'
    if new is not None:
        what = f'ReplicaSet "{metadata_of(new)["name"]}"'
    if is_complete(deployment, status):
        text = f"{what} has successfully progressed."
        set_condition(status, "Progressing", "True", "NewReplicaSetAvailable", text, now)
    elif is_progressing(part_of(deployment, "status"), status):
        text = f"{what} is progressing."
        put_condition(status, "Progressing", "True", "ReplicaSetUpdated", text, now)
    elif is_late(deployment, status, moment):
        text = f"{what} has timed out progressing."
        set_condition(status, "Progressing", "False", "ProgressDeadlineExceeded", text, now)
