"""How many pods each replica set of a deployment shall have."""

from __future__ import annotations

from stockman_lab.kube.controllers.amounts import resolved
from stockman_lab.kube.controllers.moments import read_time
from stockman_lab.kube.objects import Object, metadata_of, part_of

REVISION = "deployment.kubernetes.io/revision"
HISTORY = "deployment.kubernetes.io/revision-history"
DESIRED = "deployment.kubernetes.io/desired-replicas"
MOST = "deployment.kubernetes.io/max-replicas"
HASH = "pod-template-hash"


def wanted(content: Object) -> int:
    """How many pods somebody wants."""
    replicas: int = part_of(content, "spec").get("replicas", 1)
    return replicas


def told(content: Object, name: str) -> int:
    """A number of a status."""
    found: int = part_of(content, "status").get(name, 0)
    return found


def annotations_of(content: Object) -> Object:
    return part_of(content, "metadata", "annotations")


def is_rolling(deployment: Object) -> bool:
    """Whether old and new pods live together while they are replaced."""
    return part_of(deployment, "spec", "strategy").get("type") != "Recreate"


def most_surge(deployment: Object) -> int:
    """How many pods there may be beyond those wanted."""
    return _fences(deployment)[0] if is_rolling(deployment) else 0


def most_unavailable(deployment: Object) -> int:
    """How many of the wanted pods may be missing."""
    if not is_rolling(deployment) or wanted(deployment) == 0:
        return 0
    return min(_fences(deployment)[1], wanted(deployment))


def _fences(deployment: Object) -> tuple[int, int]:
    rolling = part_of(deployment, "spec", "strategy", "rollingUpdate")
    count = wanted(deployment)
    surge = resolved(rolling.get("maxSurge", "25%"), count, up=True)
    unavailable = resolved(rolling.get("maxUnavailable", "25%"), count, up=False)
    if surge == 0 and unavailable == 0:
        unavailable = 1
    return surge, unavailable


def new_size(deployment: Object, sets: list[Object], current: int) -> int:
    """How large the new replica set may be now."""
    if not is_rolling(deployment):
        return wanted(deployment)
    most = wanted(deployment) + most_surge(deployment)
    there = sum(wanted(one) for one in sets)
    if there >= most:
        return current
    return current + min(most - there, wanted(deployment) - current)


def by_age(sets: list[Object]) -> list[Object]:
    """The oldest first."""
    return sorted(sets, key=lambda one: (_created(one), metadata_of(one)["name"]))


def _created(one: Object) -> float:
    return read_time(metadata_of(one).get("creationTimestamp"))


def revision(content: Object) -> int:
    """The revision of a replica set."""
    found = annotations_of(content).get(REVISION, "0")
    return int(found) if found.isdigit() else 0


def shares(deployment: Object, sets: list[Object]) -> list[tuple[Object, int]]:
    """New sizes of all replica sets when the deployment is scaled in the middle of a rollout."""
    active = [one for one in sets if wanted(one) > 0]
    total = sum(wanted(one) for one in active)
    allowed = wanted(deployment) + most_surge(deployment) if wanted(deployment) > 0 else 0
    to_add = allowed - total
    if to_add > 0:
        active.sort(key=lambda one: (-wanted(one), -_created(one)))
    else:
        active.sort(key=lambda one: (-wanted(one), _created(one)))
    sizes = {}
    added = 0
    for one in active:
        size = wanted(one)
        if to_add:
            share = _share(deployment, one, to_add, added)
            size += share
            added += share
        sizes[metadata_of(one)["name"]] = size
    if active:
        first = metadata_of(active[0])["name"]
        sizes[first] = max(sizes[first] + to_add - added, 0)
    return [(one, sizes[metadata_of(one)["name"]]) for one in active]


def _share(deployment: Object, one: Object, to_add: int, added: int) -> int:
    if wanted(one) == 0 or to_add == 0 or to_add == added:
        return 0
    fraction = _fraction(deployment, one)
    left = to_add - added
    return min(fraction, left) if to_add > 0 else max(fraction, left)


def _fraction(deployment: Object, one: Object) -> int:
    if wanted(deployment) == 0:
        return -wanted(one)
    most = wanted(deployment) + most_surge(deployment)
    found = annotations_of(one).get(MOST, "")
    before = int(found) if found.isdigit() and int(found) else told(deployment, "replicas")
    if not before:
        return 0
    return int(wanted(one) * most / before + 0.5) - wanted(one)
