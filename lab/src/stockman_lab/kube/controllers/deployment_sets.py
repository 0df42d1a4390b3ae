"""Replica sets of a deployment: which is the new one, and what each is told."""

from __future__ import annotations

from stockman_lab.kube.controllers.deployment_replicas import (
    DESIRED,
    HASH,
    HISTORY,
    MOST,
    REVISION,
    annotations_of,
    by_age,
    most_surge,
    told,
    wanted,
)
from stockman_lab.kube.objects import Object, copied, part_of

_OWN = frozenset(
    {
        "kubectl.kubernetes.io/last-applied-configuration",
        "deprecated.deployment.rollback.to",
        REVISION,
        HISTORY,
        DESIRED,
        MOST,
    }
)
"""Annotations that replica sets do not take from their deployment."""


def split(found: Object, sets: list[Object]) -> tuple[Object | None, list[Object]]:
    """The replica set of the template, and all others."""
    template = part_of(found, "spec", "template")
    for one in by_age(sets):
        other = copied(part_of(one, "spec", "template"))
        part_of(other, "metadata", "labels").pop(HASH, None)
        if other == template:
            return one, [another for another in sets if another is not one]
    return None, sets


def is_saturated(found: Object, new: Object) -> bool:
    """Whether the new replica set has all pods that are wanted."""
    count = wanted(found)
    desired = annotations_of(new).get(DESIRED, "")
    return wanted(new) == count == told(new, "availableReplicas") and desired == str(count)


def annotate(found: Object, one: Object, number: int) -> None:
    """Give a replica set the annotations of its deployment and its revision."""
    annotations = one["metadata"].setdefault("annotations", {})
    for name, value in annotations_of(found).items():
        if name not in _OWN:
            annotations[name] = value
    old = annotations.get(REVISION, "")
    if not old or int(old) < number:
        annotations[REVISION] = str(number)
        if old:
            history = [past for past in annotations.get(HISTORY, "").split(",") if past]
            annotations[HISTORY] = ",".join([*history, old])


def annotate_sizes(found: Object, one: Object) -> None:
    """Note in a replica set for how many pods it was scaled."""
    annotations = one["metadata"].setdefault("annotations", {})
    annotations[DESIRED] = str(wanted(found))
    annotations[MOST] = str(wanted(found) + most_surge(found))
