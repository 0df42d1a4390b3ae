"""Stateful sets: pods with names and claims that last, one after the other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from stockman_lab.kube.controllers import pods as pod_facts
from stockman_lab.kube.controllers.client import Refused
from stockman_lab.kube.controllers.controller import Controller
from stockman_lab.kube.controllers.objects import ObjectChange, named_key
from stockman_lab.kube.controllers.ownership import claimed
from stockman_lab.kube.controllers.revisions import History, kept_history, template_of, trim_history
from stockman_lab.kube.objects import Object, copied, metadata_of, part_of

_REVISION = "controller-revision-hash"
_NAME = "statefulset.kubernetes.io/pod-name"
_INDEX = "apps.kubernetes.io/pod-index"


@dataclass(slots=True)
class _Work:
    """One stateful set as it is brought in order."""

    found: Object
    pods: dict[int, Object]
    update: str
    """The revision that is wanted."""
    current: str
    """The revision that pods have whose turn has not come."""
    templates: dict[str, Object]

    @property
    def spec(self) -> Object:
        return part_of(self.found, "spec")

    @property
    def start(self) -> int:
        result: int = part_of(self.spec, "ordinals").get("start", 0)
        return result

    @property
    def wanted(self) -> range:
        return range(self.start, self.start + self.spec.get("replicas", 1))

    @property
    def is_ordered(self) -> bool:
        return bool(self.spec.get("podManagementPolicy") != "Parallel")

    @property
    def partition(self) -> int:
        rolling = part_of(self.spec, "updateStrategy", "rollingUpdate")
        return self.start + int(rolling.get("partition") or 0)


class StatefulSets(Controller):
    """Makes pods in order and replaces them in the other direction."""

    name = "statefulset"
    component = "statefulset-controller"
    watches = ("statefulsets", "pods")

    def keys(self, change: ObjectChange) -> Iterable[str]:
        """Of a pod: its owner, or whoever may adopt it."""
        if change.key.resource == "pods":
            return pod_facts.touched_owners(change, self.objects, "statefulsets", "StatefulSet")
        return (change.name,)

    def sync(self, key: str) -> None:
        """Make, delete or replace the pods whose turn it is."""
        statefulsets = self.objects.get("statefulsets", key)
        if statefulsets is None:
            return
        history = kept_history(
            statefulsets, self.objects, self.client, "controller.kubernetes.io/hash"
        )
        work = _begun(
            statefulsets, claimed(statefulsets, "pods", self.objects, self.client), history
        )
        if not metadata_of(statefulsets).get("deletionTimestamp"):
            self._step(work)
        self._tell(key, work)
        self._trim(work, history)

    def _step(self, work: _Work) -> None:
        for number in work.wanted:
            if not self._is_settled(work, number) and work.is_ordered:
                return
        for number in sorted((one for one in work.pods if one not in work.wanted), reverse=True):
            pod = work.pods[number]
            if pod_facts.is_going(pod):
                if work.is_ordered:
                    return
                continue
            first_ill = self._first_ill(work)
            blocked = work.is_ordered and first_ill not in {None, number}
            if blocked and not pod_facts.is_ready(pod):
                return
            self._delete(work, number)
            if work.is_ordered:
                return
        self._replace(work)

    def _first_ill(self, work: _Work) -> int | None:
        least = work.spec.get("minReadySeconds", 0)
        ill = [
            number
            for number, pod in sorted(work.pods.items())
            if not pod_facts.is_available(pod, least, self.now) or pod_facts.is_going(pod)
        ]
        return ill[0] if ill else None

    def _is_settled(self, work: _Work, number: int) -> bool:
        """Whether a pod is there and can be used; makes it where it is not there."""
        pod = work.pods.get(number)
        if pod is not None and pod_facts.phase(pod) in {"Failed", "Succeeded"}:
            if not pod_facts.is_going(pod):
                self._delete(work, number)
            return False
        if pod is None:
            self._create(work, number)
            return False
        if pod_facts.is_going(pod):
            return False
        least = work.spec.get("minReadySeconds", 0)
        return pod_facts.is_available(pod, least, self.now)

    def _replace(self, work: _Work) -> None:
        if part_of(work.spec, "updateStrategy").get("type") == "OnDelete":
            return
        least = work.spec.get("minReadySeconds", 0)
        for number in sorted(work.wanted, reverse=True):
            pod = work.pods.get(number)
            if number < work.partition or pod is None:
                return
            if _revision(pod) != work.update and not pod_facts.is_going(pod):
                self._delete(work, number)
                return
            if not pod_facts.is_available(pod, least, self.now) or pod_facts.is_going(pod):
                return

    # -- pods ----------------------------------------------------------------------------------

    def _create(self, work: _Work, number: int) -> None:
        metadata = metadata_of(work.found)
        name = f"{metadata['name']}-{number}"
        is_old = number < work.partition or self._is_before_turn(work, number)
        revision = work.current if is_old else work.update
        template = pod_facts.from_template(work.found, work.templates[revision])
        about, spec = template["metadata"], template["spec"]
        about["name"] = name
        about.setdefault("labels", {}).update(
            {_NAME: name, _INDEX: str(number), _REVISION: revision}
        )
        spec["hostname"] = name
        if work.spec.get("serviceName"):
            spec["subdomain"] = work.spec["serviceName"]
        self._claim(work, name, spec)
        try:
            work.pods[number] = self.client.create("v1", "Pod", template)
        except Refused as why:
            text = (
                f"create Pod {name} in StatefulSet {metadata['name']} failed error: {why.message}"
            )
            self.recorder.warning(work.found, "FailedCreate", text)
            raise
        text = f"Create Pod {name} in StatefulSet {metadata['name']} successful"
        self.recorder.normal(work.found, "SuccessfulCreate", text)

    def _is_before_turn(self, work: _Work, number: int) -> bool:
        """Whether a pod is made as it was: the update has not come down to it."""
        if work.current == work.update:
            return False
        behind = [item for item in work.wanted if item > number]
        return any(_revision(work.pods.get(item, {})) != work.update for item in behind)

    def _claim(self, work: _Work, pod: str, spec: Object) -> None:
        metadata = metadata_of(work.found)
        volumes = []
        for template in work.spec.get("volumeClaimTemplates") or []:
            stem = metadata_of(template)["name"]
            name = f"{stem}-{pod}"
            volumes.append({"name": stem, "persistentVolumeClaim": {"claimName": name}})
            if self.objects.get("persistentvolumeclaims", named_key(metadata["namespace"], name)):
                continue
            labels = part_of(work.spec, "selector").get("matchLabels") or {}
            about = {**copied(metadata_of(template)), "name": name}
            about["namespace"] = metadata["namespace"]
            about["labels"] = {**(about.get("labels") or {}), **labels}
            content: Object = {"metadata": about, "spec": copied(template["spec"])}
            self.client.create("v1", "PersistentVolumeClaim", content)
            text = f"Create Claim {name} Pod {pod} in StatefulSet {metadata['name']} success"
            self.recorder.normal(work.found, "SuccessfulCreate", text)
        named = {volume["name"] for volume in volumes}
        others = [volume for volume in spec.get("volumes") or [] if volume["name"] not in named]
        if volumes:
            spec["volumes"] = [*volumes, *others]

    def _delete(self, work: _Work, number: int) -> None:
        pod = work.pods[number]
        self.client.delete(pod)
        name, owner = metadata_of(pod)["name"], metadata_of(work.found)["name"]
        text = f"Delete Pod {name} in StatefulSet {owner} successful"
        self.recorder.normal(work.found, "SuccessfulDelete", text)
        left = self.objects.get("pods", named_key(metadata_of(pod)["namespace"], name))
        if left is None:
            del work.pods[number]
        else:
            work.pods[number] = left

    # -- what is told --------------------------------------------------------------------------

    def _tell(self, key: str, work: _Work) -> None:
        least = work.spec.get("minReadySeconds", 0)
        pods = list(work.pods.values())
        ready = [
            pod for pod in pods if pod_facts.is_ready(pod) and pod_facts.phase(pod) == "Running"
        ]
        available = [item for item in ready if pod_facts.is_available(item, least, self.now)]
        alive = [pod for pod in pods if not pod_facts.is_going(pod)]
        updated = [item for item in alive if _revision(item) == work.update]
        current = [item for item in alive if _revision(item) == work.current]
        old = part_of(work.found, "status")
        done = (
            work.current != work.update
            and len(updated) == len(pods) == len(ready) == len(work.wanted)
            and part_of(work.spec, "updateStrategy").get("type") != "OnDelete"
        )
        if done:
            work.current, current = work.update, updated
        status: Object = {
            "observedGeneration": metadata_of(work.found)["generation"],
            "replicas": len(pods),
            "readyReplicas": len(ready),
            "currentReplicas": len(current),
            "updatedReplicas": len(updated),
            "currentRevision": work.current,
            "updateRevision": work.update,
            "collisionCount": old.get("collisionCount", 0),
            "availableReplicas": len(available),
        }
        for name in ("readyReplicas", "currentReplicas", "updatedReplicas"):
            if not status[name]:
                del status[name]
        waiting = [pod_facts.available_at(item, least) for item in ready if item not in available]
        if waiting:
            self.look_again(key, min(waiting))
        if status != old:
            self.client.update_status(work.found, status)

    def _trim(self, work: _Work, history: History) -> None:
        used = {work.current, work.update, *(_revision(pod) for pod in work.pods.values())}
        trim_history(history, work.spec.get("revisionHistoryLimit", 10), used, self.client)


def _revision(pod: Object) -> str:
    return str(part_of(pod, "metadata", "labels").get(_REVISION, ""))


def _begun(content: Object, pods: list[Object], history: History) -> _Work:
    stem = f"{metadata_of(content)['name']}-"
    numbered = {}
    for pod in pods:
        name = str(metadata_of(pod)["name"])
        if name.startswith(stem) and name.removeprefix(stem).isdigit():
            numbered[int(name.removeprefix(stem))] = pod
    templates = {
        metadata_of(revision)["name"]: template_of(revision)
        for revision in [*history.others, history.current]
    }
    current = part_of(content, "status").get("currentRevision", "")
    if current not in templates:
        current = history.code
    return _Work(content, numbered, history.code, current, templates)
