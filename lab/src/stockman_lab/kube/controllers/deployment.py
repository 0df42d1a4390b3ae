"""Deployments: replica sets that follow each other."""

from __future__ import annotations

from collections.abc import Iterable

from stockman_lab.kube.controllers import deployment_status as telling
from stockman_lab.kube.controllers.client import Refused
from stockman_lab.kube.controllers.controller import Controller, Retry
from stockman_lab.kube.controllers.deployment_replicas import (
    DESIRED,
    HASH,
    REVISION,
    annotations_of,
    by_age,
    is_rolling,
    most_unavailable,
    new_size,
    revision,
    shares,
    told,
    wanted,
)
from stockman_lab.kube.controllers.deployment_sets import (
    annotate,
    annotate_sizes,
    is_saturated,
    split,
)
from stockman_lab.kube.controllers.hashing import content_hash
from stockman_lab.kube.controllers.moments import read_time
from stockman_lab.kube.controllers.objects import Change, controller_of, named_key
from stockman_lab.kube.controllers.ownership import claimed, controller_reference
from stockman_lab.kube.controllers.pods import touched_owners
from stockman_lab.kube.objects import Object, copied, metadata_of, part_of


class Deployments(Controller):
    """Rolls out templates."""

    name = "deployment"
    component = "deployment-controller"
    watches = ("deployments", "replicasets", "pods")

    def keys(self, change: Change) -> Iterable[str]:
        """Of a replica set its deployment; of pods, when the last one of a deployment is gone."""
        if change.key.resource == "replicasets":
            return touched_owners(change, self.objects, "deployments", "Deployment")
        if change.key.resource == "pods":
            return self._of_gone_pod(change)
        return (change.name,)

    def _of_gone_pod(self, change: Change) -> Iterable[str]:
        owner = controller_of(change.newest)
        if change.after is not None or owner is None or owner["kind"] != "ReplicaSet":
            return ()
        replicasets = self.objects.get(
            "replicasets", named_key(change.key.namespace, owner["name"])
        )
        above = None if replicasets is None else controller_of(replicasets)
        if above is None:
            return ()
        return (named_key(change.key.namespace, above["name"]),)

    def sync(self, key: str) -> None:
        """Bring a deployment one step further."""
        deployments = self.objects.get("deployments", key)
        if deployments is None:
            return
        sets = claimed(deployments, "replicasets", self.objects, self.client)
        if metadata_of(deployments).get("deletionTimestamp"):
            new, _ = split(deployments, sets)
            self._tell(key, deployments, sets, new, progress=False)
            return
        self._tell_pause(deployments)
        if part_of(deployments, "spec").get("paused") or self._is_scaled(deployments, sets):
            self._scale(key, deployments, sets)
        elif is_rolling(deployments):
            self._roll(key, deployments, sets)
        else:
            self._recreate(key, deployments, sets)

    # -- steps ---------------------------------------------------------------------------------

    def _roll(self, key: str, found: Object, sets: list[Object]) -> None:
        found, new, old = self._with_new(found, sets)
        every = [*old, new]
        size = wanted(new)
        if size > wanted(found):
            size = wanted(found)
        elif size < wanted(found):
            size = new_size(found, every, size)
        if size != wanted(new):
            new = self._resize(found, new, size)
            self._tell(key, found, [*old, new], new)
            return
        shrunk = self._shrink_old(found, new, old)
        if shrunk is not None:
            self._tell(key, found, [*shrunk, new], new)
            return
        if telling.is_complete(found, part_of(found, "status")):
            self._clean_up(found, old)
        self._tell(key, found, every, new)

    def _recreate(self, key: str, found: Object, sets: list[Object]) -> None:
        new, old = split(found, sets)
        active = [one for one in old if wanted(one)]
        if active:
            kept = [one for one in old if not wanted(one)]
            shrunk = [self._resize(found, one, 0) for one in active]
            every = [*kept, *shrunk, *([] if new is None else [new])]
            self._tell(key, found, every, new)
            return
        if self._has_old_pods(old):
            self._tell(key, found, sets, new)
            return
        found, resize, old = self._with_new(found, sets)
        resize = self._resize(found, resize, wanted(found))
        if telling.is_complete(found, part_of(found, "status")):
            self._clean_up(found, old)
        self._tell(key, found, [*old, resize], resize)

    def _has_old_pods(self, old: list[Object]) -> bool:
        return any(
            place.resource == "pods"
            and part_of(pod, "status").get("phase") not in {"Failed", "Succeeded"}
            for one in old
            for place, pod in self.objects.owned(metadata_of(one)["uid"])
        )

    def _scale(self, key: str, found: Object, sets: list[Object]) -> None:
        new, old = split(found, sets)
        if new is not None:
            found, new, old = self._with_new(found, sets)
        every = [*old, *([] if new is None else [new])]
        resized = {metadata_of(one)["name"]: one for one in every}

        def resize(one: Object, size: int) -> None:
            resized[metadata_of(one)["name"]] = self._resize(found, one, size)

        active = [one for one in every if wanted(one) > 0]
        if len(active) <= 1:
            latest = active[0] if active else new or (by_age(old)[-1] if old else None)
            if latest is not None and wanted(latest) != wanted(found):
                resize(latest, wanted(found))
        elif new is not None and is_saturated(found, new):
            for one in [one for one in old if wanted(one) > 0]:
                resize(one, 0)
        elif is_rolling(found):
            for one, size in shares(found, every):
                resize(one, size)
        if part_of(found, "spec").get("paused"):
            self._clean_up(found, old)
        name = "" if new is None else metadata_of(new)["name"]
        self._tell(key, found, list(resized.values()), resized.get(name), progress=False)

    def _is_scaled(self, found: Object, sets: list[Object]) -> bool:
        return any(
            annotations_of(one).get(DESIRED, "") not in {"", str(wanted(found))}
            for one in sets
            if wanted(one) > 0
        )

    # -- replica sets --------------------------------------------------------------------------

    def _with_new(self, found: Object, sets: list[Object]) -> tuple[Object, Object, list[Object]]:
        """The replica set of the template, made where there is none; and all others."""
        new, old = split(found, sets)
        number = max([revision(one) for one in old] or [0]) + 1
        if new is None:
            return *self._made(found, old, number), old
        changed = copied(new)
        annotate(found, changed, number)
        least = part_of(found, "spec").get("minReadySeconds")
        if least != changed["spec"].get("minReadySeconds"):
            changed["spec"]["minReadySeconds"] = least or 0
        if changed != new:
            new = self.client.update(changed)
        status = copied(part_of(found, "status"))
        if telling.deadline(found) is not None and not telling.found_condition(
            status, "Progressing"
        ):
            text = f'Found new replica set "{metadata_of(new)["name"]}"'
            telling.set_condition(
                status, "Progressing", "True", "FoundNewReplicaSet", text, self.today
            )
        return self._numbered(found, new, status), new, old

    def _made(self, found: Object, old: list[Object], number: int) -> tuple[Object, Object]:
        status = copied(part_of(found, "status"))
        template = copied(part_of(found, "spec", "template"))
        code = content_hash(template, status.get("collisionCount", 0))
        template.setdefault("metadata", {}).setdefault("labels", {})[HASH] = code
        selector = copied(part_of(found, "spec", "selector"))
        selector.setdefault("matchLabels", {})[HASH] = code
        metadata = metadata_of(found)
        name = f"{metadata['name']}-{code}"
        size = new_size(found, old, 0)
        content: Object = {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": {
                "name": name,
                "namespace": metadata["namespace"],
                "labels": template["metadata"]["labels"],
                "ownerReferences": [controller_reference(found)],
            },
            "spec": {"replicas": size, "selector": selector, "template": template},
        }
        if part_of(found, "spec").get("minReadySeconds"):
            content["spec"]["minReadySeconds"] = found["spec"]["minReadySeconds"]
        annotate(found, content, number)
        annotate_sizes(found, content)
        try:
            made = self.client.create("apps/v1", "ReplicaSet", content)
        except Refused as why:
            self._not_made(found, name, status, why)
            raise
        if size:
            text = f"Scaled up replica set {name} from 0 to {size}"
            self.recorder.normal(found, "ScalingReplicaSet", text)
        if telling.deadline(found) is not None:
            text = f'Created new replica set "{name}"'
            telling.set_condition(
                status, "Progressing", "True", "NewReplicaSetCreated", text, self.today
            )
        return self._numbered(found, made, status), made

    def _not_made(self, found: Object, name: str, status: Object, why: Refused) -> None:
        if why.is_taken:
            status["collisionCount"] = status.get("collisionCount", 0) + 1
            self.client.update_status(found, status)
            raise Retry
        text = f'Failed to create new replica set "{name}": {why.message}'
        if telling.deadline(found) is not None:
            telling.set_condition(
                status, "Progressing", "False", "ReplicaSetCreateError", text, self.today
            )
            self.client.update_status(found, status)
        self.recorder.warning(found, "ReplicaSetCreateError", text)

    def _numbered(self, found: Object, new: Object, status: Object) -> Object:
        """The deployment with the revision of its newest replica set."""
        number = annotations_of(new).get(REVISION, "")
        if annotations_of(found).get(REVISION) == number and status == part_of(found, "status"):
            return found
        changed = copied(found)
        changed["metadata"].setdefault("annotations", {})[REVISION] = number
        return self.client.update_status(changed, status)

    def _resize(self, found: Object, one: Object, size: int) -> Object:
        changed = copied(one)
        changed["spec"]["replicas"] = size
        annotate_sizes(found, changed)
        before = wanted(one)
        if changed == one:
            return one
        resize = self.client.update(changed)
        if size != before:
            way = "up" if size > before else "down"
            name = metadata_of(one)["name"]
            text = f"Scaled {way} replica set {name} from {before} to {size}"
            self.recorder.normal(found, "ScalingReplicaSet", text)
        return resize

    def _shrink_old(self, found: Object, new: Object, old: list[Object]) -> list[Object] | None:
        """All old replica sets after some were made smaller; None: none may be."""
        there = sum(wanted(one) for one in old)
        if there == 0:
            return None
        least = wanted(found) - most_unavailable(found)
        missing = wanted(new) - told(new, "availableReplicas")
        room = there + wanted(new) - least - missing
        if room <= 0:
            return None
        sizes = {metadata_of(one)["name"]: wanted(one) for one in old}
        for one in by_age(old):
            part = min(room, wanted(one) - told(one, "availableReplicas"))
            if wanted(one) and part > 0:
                sizes[metadata_of(one)["name"]] -= part
                room -= part
        available = sum(told(one, "availableReplicas") for one in [*old, new])
        spare = available - least
        for one in by_age(old):
            name = metadata_of(one)["name"]
            part = min(max(spare, 0), sizes[name])
            sizes[name] -= part
            spare -= part
        if all(sizes[metadata_of(one)["name"]] == wanted(one) for one in old):
            return None
        return [
            self._resize(found, one, sizes[metadata_of(one)["name"]])
            if sizes[metadata_of(one)["name"]] != wanted(one)
            else one
            for one in old
        ]

    def _clean_up(self, found: Object, old: list[Object]) -> None:
        limit = part_of(found, "spec").get("revisionHistoryLimit", 10)
        alive = [one for one in old if not metadata_of(one).get("deletionTimestamp")]
        surplus = len(alive) - limit
        for one in sorted(alive, key=revision)[: max(surplus, 0)]:
            busy = wanted(one) or told(one, "replicas")
            if not busy and told(one, "observedGeneration") >= metadata_of(one)["generation"]:
                self.client.delete(one)

    # -- what is told --------------------------------------------------------------------------

    def _tell_pause(self, found: Object) -> None:
        """Note that a deployment was paused, or goes on; what follows is tried again then."""
        if telling.deadline(found) is None:
            return
        status = copied(part_of(found, "status"))
        current = telling.found_condition(status, "Progressing")
        reason = "" if current is None else current["reason"]
        if reason == "ProgressDeadlineExceeded":
            return
        paused = bool(part_of(found, "spec").get("paused"))
        if paused and reason != "DeploymentPaused":
            word, text = "DeploymentPaused", "Deployment is paused"
        elif not paused and reason == "DeploymentPaused":
            word, text = "DeploymentResumed", "Deployment is resumed"
        else:
            return
        telling.set_condition(status, "Progressing", "Unknown", word, text, self.today)
        self.client.update_status(found, status)

    def _tell(
        self,
        key: str,
        found: Object,
        sets: list[Object],
        new: Object | None,
        *,
        progress: bool = True,
    ) -> None:
        status = telling.counted(found, sets, new, self.today)
        if progress:
            telling.tell_progress(found, status, new, self.now, self.today)
        _tell_failure(status, sets, new)
        if status != part_of(found, "status"):
            found = self.client.update_status(found, status)
        limit = telling.deadline(found)
        current = telling.found_condition(status, "Progressing")
        if limit is None or current is None or not progress:
            return
        if current["reason"] not in {"NewReplicaSetAvailable", "ProgressDeadlineExceeded"}:
            late = read_time(current["lastUpdateTime"]) + limit + 1.0
            self.look_again(key, late, patient=True)


def _tell_failure(status: Object, sets: list[Object], new: Object | None) -> None:
    found = [
        telling.found_condition(part_of(one, "status"), "ReplicaFailure")
        for one in [*([] if new is None else [new]), *sets]
    ]
    failed = next((one for one in found if one is not None), None)
    if failed is None:
        status["conditions"] = [
            condition for condition in status["conditions"] if condition["type"] != "ReplicaFailure"
        ]
    else:
        now = failed["lastTransitionTime"]
        telling.set_condition(
            status, "ReplicaFailure", "True", failed["reason"], failed["message"], now
        )
