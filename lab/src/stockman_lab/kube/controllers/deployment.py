"""Deployments: replica sets that follow each other."""

from __future__ import annotations

from collections.abc import Iterable

from stockman_lab.kube.controllers.client import Refused, read_time
from stockman_lab.kube.controllers.controller import Controller
from stockman_lab.kube.controllers.objects import ObjectChange, controller_of, named_key
from stockman_lab.kube.controllers.ownership import claimed, controller_reference
from stockman_lab.kube.controllers.pods import resolved, touched_owners, without_zeros
from stockman_lab.kube.controllers.revisions import content_hash
from stockman_lab.kube.objects import Object, copied, metadata_of, part_of, written_time

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


_REVISION = "deployment.kubernetes.io/revision"
_HASH = "pod-template-hash"
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


class Deployments(Controller):
    """Rolls out templates."""

    name = "deployment"
    component = "deployment-controller"
    watches = ("deployments", "replicasets", "pods")

    def keys(self, change: ObjectChange) -> Iterable[str]:
        """Of a replica set its deployment; of pods, when one of a deployment is gone."""
        if change.key.resource == "replicasets":
            return touched_owners(change, self.objects, "deployments", "Deployment")
        if change.key.resource == "pods":
            return self._of_gone_pod(change)
        return (change.name,)

    def _of_gone_pod(self, change: ObjectChange) -> Iterable[str]:
        owner = controller_of(change.newest)
        if change.after is not None or owner is None or owner["kind"] != "ReplicaSet":
            return ()
        place = named_key(change.key.namespace, owner["name"])
        above = controller_of(self.objects.get("replicasets", place) or {})
        return () if above is None else (named_key(change.key.namespace, above["name"]),)

    def sync(self, key: str) -> None:
        """Bring a deployment one step further."""
        deployment = self.objects.get("deployments", key)
        if deployment is None or metadata_of(deployment).get("deletionTimestamp"):
            return
        new, old = _split(deployment, claimed(deployment, "replicasets", self.objects, self.client))
        if part_of(deployment, "spec").get("paused"):
            self._scale_in_pause(deployment, new, old)
        elif _is_rolling(deployment) or not self._stop_old(deployment, old):
            deployment, new, old = self._roll_out(deployment, new, old)
        self._write_status(key, deployment, [*old, *([] if new is None else [new])], new)

    def _scale_in_pause(self, deployment: Object, new: Object | None, old: list[Object]) -> None:
        """Scale the only replica set that has pods; what follows is seen at the next look."""
        active = [item for item in (*old, *([] if new is None else [new])) if replicas(item)]
        if len(active) == 1:
            self._resize(deployment, active[0], replicas(deployment))

    def _stop_old(self, deployment: Object, old: list[Object]) -> bool:
        """Scale old replica sets down; whether there are still pods of them."""
        has_pods = any(
            key.resource == "pods"
            and part_of(pod, "status").get("phase") not in {"Failed", "Succeeded"}
            for item in old
            for key, pod in self.objects.owned(metadata_of(item)["uid"])
        )
        for item in old:
            self._resize(deployment, item, 0)
        return has_pods or any(map(replicas, old))

    def _roll_out(
        self, deployment: Object, new: Object | None, old: list[Object]
    ) -> tuple[Object, Object, list[Object]]:
        number = max(map(_revision, old), default=0) + 1
        if new is None:
            new = self._create_set(deployment, _new_size(deployment, old, 0), number)
        else:
            changed = _annotate(deployment, new, number)
            changed["spec"]["minReadySeconds"] = part_of(deployment, "spec").get(
                "minReadySeconds", 0
            )
            new = new if changed == new else self.client.update(changed)
        deployment = self._set_revision(deployment, new)
        size = replicas(new)
        if size > replicas(deployment):
            size = replicas(deployment)
        elif size < replicas(deployment):
            size = _new_size(deployment, [*old, new], size)
        if size != replicas(new):
            return deployment, self._resize(deployment, new, size), old
        old = self._shrink_old(deployment, new, old)
        if is_complete(deployment, part_of(deployment, "status")):
            self._clean_up(deployment, old)
        return deployment, new, old

    # -- replica sets --------------------------------------------------------------------------

    def _create_set(self, deployment: Object, size: int, number: int) -> Object:
        template = copied(part_of(deployment, "spec", "template"))
        code = content_hash(template)
        template.setdefault("metadata", {}).setdefault("labels", {})[_HASH] = code
        selector = copied(part_of(deployment, "spec", "selector"))
        selector.setdefault("matchLabels", {})[_HASH] = code
        metadata = metadata_of(deployment)
        name = f"{metadata['name']}-{code}"
        content: Object = {
            "metadata": {
                "name": name,
                "namespace": metadata["namespace"],
                "labels": template["metadata"]["labels"],
                "ownerReferences": [controller_reference(deployment)],
            },
            "spec": {"replicas": size, "selector": selector, "template": template},
        }
        if part_of(deployment, "spec").get("minReadySeconds"):
            content["spec"]["minReadySeconds"] = deployment["spec"]["minReadySeconds"]
        try:
            result = self.client.create(
                "apps/v1", "ReplicaSet", _annotate(deployment, content, number)
            )
        except Refused as why:
            text = f'Failed to create new replica set "{name}": {why.message}'
            self.recorder.warning(deployment, "ReplicaSetCreateError", text)
            raise
        if size:
            text = f"Scaled up replica set {name} from 0 to {size}"
            self.recorder.normal(deployment, "ScalingReplicaSet", text)
        return result

    def _set_revision(self, deployment: Object, new: Object) -> Object:
        """The deployment with the revision of its newest replica set."""
        number = _annotations(new).get(_REVISION, "")
        if _annotations(deployment).get(_REVISION) == number:
            return deployment
        changed = copied(deployment)
        changed["metadata"].setdefault("annotations", {})[_REVISION] = number
        return self.client.update_status(changed, part_of(deployment, "status"))

    def _resize(self, deployment: Object, replica_set: Object, size: int) -> Object:
        before = replicas(replica_set)
        if size == before:
            return replica_set
        changed = copied(replica_set)
        changed["spec"]["replicas"] = size
        changed = self.client.update(changed)
        way = "up" if size > before else "down"
        name = metadata_of(replica_set)["name"]
        text = f"Scaled {way} replica set {name} from {before} to {size}"
        self.recorder.normal(deployment, "ScalingReplicaSet", text)
        return changed

    def _shrink_old(self, deployment: Object, new: Object, old: list[Object]) -> list[Object]:
        """All old replica sets, some of them made smaller: first by pods that do not work."""
        there = sum(map(replicas, old))
        least = replicas(deployment) - _fences(deployment)[1]
        missing = replicas(new) - status_number(new, "availableReplicas")
        room = there + replicas(new) - least - missing
        spare = sum(status_number(item, "availableReplicas") for item in [*old, new]) - least
        sizes = [replicas(item) for item in old]
        for key, one in enumerate(old):
            broken = max(min(room, replicas(one) - status_number(one, "availableReplicas")), 0)
            sizes[key] -= broken
            room -= broken
        for key, _ in enumerate(old):
            part = max(min(spare, room, sizes[key]), 0)
            sizes[key] -= part
            spare, room = spare - part, room - part
        return [self._resize(deployment, one, size) for one, size in zip(old, sizes, strict=True)]

    def _clean_up(self, deployment: Object, old: list[Object]) -> None:
        limit = part_of(deployment, "spec").get("revisionHistoryLimit", 10)
        for item in sorted(old, key=_revision)[: max(len(old) - limit, 0)]:
            if not replicas(item) and not status_number(item, "replicas"):
                self.client.delete(item)

    # -- status --------------------------------------------------------------------------------

    def _write_status(
        self, key: str, deployment: Object, sets: list[Object], new: Object | None
    ) -> None:
        most_missing = _fences(deployment)[1]
        status = deployment_status(deployment, sets, new, self.now, most_missing)
        if status != part_of(deployment, "status"):
            deployment = self.client.update_status(deployment, status)
        limit, progress = deadline(deployment), find_condition(status, "Progressing")
        if limit is None or progress is None:
            return
        if progress["reason"] not in {"NewReplicaSetAvailable", "ProgressDeadlineExceeded"}:
            late = read_time(progress["lastUpdateTime"]) + limit + 1.0
            self.look_again(key, late, patient=True)


def _split(deployment: Object, sets: list[Object]) -> tuple[Object | None, list[Object]]:
    """The replica set of the template, and all others, the oldest first."""
    template = part_of(deployment, "spec", "template")
    ordered = sorted(
        sets,
        key=lambda replica_set: (
            read_time(metadata_of(replica_set).get("creationTimestamp")),
            metadata_of(replica_set)["name"],
        ),
    )
    for item in ordered:
        content = copied(part_of(item, "spec", "template"))
        part_of(content, "metadata", "labels").pop(_HASH, None)
        if content == template:
            return item, [another for another in ordered if another is not item]
    return None, ordered


def _annotations(content: Object) -> Object:
    return part_of(content, "metadata", "annotations")


def _revision(replica_set: Object) -> int:
    return int(_annotations(replica_set).get(_REVISION, "0"))


def _annotate(deployment: Object, replica_set: Object, number: int) -> Object:
    """A replica set with the annotations of its deployment and its revision."""
    changed = copied(replica_set)
    annotations = changed["metadata"].setdefault("annotations", {})
    own = {_LAST_APPLIED, _REVISION}
    annotations |= {
        name: value for name, value in _annotations(deployment).items() if name not in own
    }
    if int(annotations.get(_REVISION, "0")) < number:
        annotations[_REVISION] = str(number)
    return changed


def _is_rolling(deployment: Object) -> bool:
    """Whether old and new pods live together while they are replaced."""
    return part_of(deployment, "spec", "strategy").get("type") != "Recreate"


def _fences(deployment: Object) -> tuple[int, int]:
    """How many pods there may be beyond those wanted, and how many of those may be missing."""
    if not _is_rolling(deployment):
        return 0, 0
    rolling = part_of(deployment, "spec", "strategy", "rollingUpdate")
    count = replicas(deployment)
    surge = resolved(rolling.get("maxSurge", "25%"), count, up=True)
    unavailable = resolved(rolling.get("maxUnavailable", "25%"), count, up=False)
    return surge, min(unavailable if surge or unavailable else 1, count)


def _new_size(deployment: Object, sets: list[Object], current: int) -> int:
    """How large the new replica set may be now."""
    most = replicas(deployment) + _fences(deployment)[0]
    room = most - sum(map(replicas, sets))
    return current + max(min(room, replicas(deployment) - current), 0)
