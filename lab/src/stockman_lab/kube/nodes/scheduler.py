"""The scheduler at work: pods that wait, by priority and age, get their nodes."""

from __future__ import annotations

from collections.abc import Iterable

from stockman_lab.kube.api.messages import User
from stockman_lab.kube.controllers.client import Refused
from stockman_lab.kube.controllers.controller import Controller, ControllerContext
from stockman_lab.kube.controllers.objects import ObjectChange, named_key
from stockman_lab.kube.nodes.scheduling.cache import SchedulerCache
from stockman_lab.kube.nodes.scheduling.claims import Claims
from stockman_lab.kube.nodes.scheduling.deciding import Decision, Scheduling
from stockman_lab.kube.objects import Object, entries_of, metadata_of, part_of, written_time

_ALL = "waiting"
"""The one key of this controller: every change of the cluster is about all who wait."""
_NAME = "default-scheduler"
_CHANGING = frozenset({"persistentvolumeclaims", "persistentvolumes", "namespaces"})


class Scheduler(Controller):
    """Gives pods their nodes."""

    name = "scheduler"
    component = _NAME
    watches = ("pods", "nodes", *sorted(_CHANGING))

    def __init__(self, context: ControllerContext) -> None:
        super().__init__(context)
        self.client = context.client.acting(
            "kube-scheduler/v1.36.3", User("system:kube-scheduler", ("system:masters",))
        )
        self._cache = SchedulerCache()
        self._waiting: dict[str, Object] = {}
        self._is_filled = False
        self._scheduling = Scheduling(self._cache, self._labels)
        self._claims = Claims(context.objects, self.client)

    def remember(self) -> None:
        """Know nodes and pods."""
        self._fill()

    def keys(self, change: ObjectChange) -> Iterable[str]:
        """Whatever helps or harms those who wait."""
        matters = True
        if self._is_filled:
            matters = self._see(change)
        if matters:
            yield _ALL

    def _see(self, change: ObjectChange) -> bool:
        kind = change.key.resource
        if kind == "nodes":
            if change.after is None:
                self._cache.remove_node(change.key.name)
            else:
                self._cache.update_node(change.after)
            return _is_news(change) and bool(self._waiting)
        if kind != "pods":
            return bool(self._waiting)
        return self._update_pod(change)

    def _update_pod(self, change: ObjectChange) -> bool:
        pod = change.newest
        uid = str(metadata_of(pod).get("uid", ""))
        was_waiting = uid in self._waiting
        if change.after is None:
            self._cache.remove_pod(uid)
            self._waiting.pop(uid, None)
            return bool(self._waiting)
        self._cache.update_pod(pod)
        if _is_waiting(pod):
            self._waiting[uid] = pod
            return not was_waiting or _has_new_spec(change)
        self._waiting.pop(uid, None)
        ended = part_of(pod, "status").get("phase") in ("Succeeded", "Failed")
        return bool(self._waiting) and (ended or change.before is None)

    def _fill(self) -> None:
        for node in self.objects.listed("nodes"):
            self._cache.update_node(node)
        for pod in self.objects.listed("pods"):
            self._cache.update_pod(pod)
            if _is_waiting(pod):
                self._waiting[str(metadata_of(pod)["uid"])] = pod
        self._is_filled = True

    def sync(self, key: str) -> None:
        """Try all who wait, the most important ones first."""
        del key
        if not self._is_filled:
            self._fill()
        for pod in sorted(self._waiting.values(), key=_turn):
            metadata = metadata_of(pod)
            where = named_key(metadata["namespace"], metadata["name"])
            fresh = self.objects.get("pods", where)
            if fresh is not None and metadata_of(fresh).get("uid") == metadata["uid"]:
                self._try(fresh)

    def _try(self, pod: Object) -> None:
        spec = part_of(pod, "spec")
        if not _is_waiting(pod):
            return
        if spec.get("schedulingGates"):
            return
        trouble, volumes = self._claims.look(pod, len(self._cache.nodes))
        if trouble:
            self._refuse(pod, Decision(message=trouble))
            return
        decision = self._scheduling.decide(pod, volumes)
        node = decision.node
        if not node:
            self._refuse(pod, decision)
            return
        if not self._claims.choose(pod, node):
            return
        self._bind(pod, node)

    def _bind(self, pod: Object, node: str) -> None:
        metadata = metadata_of(pod)
        body = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {
                "name": metadata["name"],
                "namespace": metadata["namespace"],
                "uid": metadata["uid"],
            },
            "target": {"kind": "Node", "name": node},
        }
        try:
            self.client.post(pod, "binding", body)
        except Refused:
            return
        where = named_key(metadata["namespace"], metadata["name"])
        fresh = self.objects.get("pods", where)
        self._waiting.pop(str(metadata["uid"]), None)
        if fresh is not None:
            self._cache.update_pod(fresh)
        text = f"Successfully assigned {where} to {node}"
        self.recorder.normal(pod, "Scheduled", text)

    def _refuse(self, pod: Object, decision: Decision) -> None:
        before = entries_of(pod, "status", "conditions")
        known = next((item for item in before if item.get("type") == "PodScheduled"), None)
        if known is None or known.get("message") != decision.message:
            self._write_refusal(pod, decision, known)
            self.recorder.warning(pod, "FailedScheduling", decision.message)

    def _write_refusal(self, pod: Object, decision: Decision, known: Object | None) -> None:
        generation = metadata_of(pod).get("generation")
        same = known is not None and known.get("status") == "False"
        moment = known["lastTransitionTime"] if same and known else written_time(self.now)
        condition = {
            "type": "PodScheduled",
            **({"observedGeneration": generation} if generation else {}),
            "status": "False",
            "lastProbeTime": None,
            "lastTransitionTime": moment,
            "reason": "Unschedulable",
            "message": decision.message,
        }
        status = {**part_of(pod, "status")}
        conditions = [
            one for one in status.get("conditions") or [] if one.get("type") != "PodScheduled"
        ]
        status["conditions"] = [*conditions, condition]
        self.client.update_status(pod, status)

    def _labels(self, namespace: str) -> dict[str, str]:
        namespaces = self.objects.get("namespaces", namespace)
        return metadata_of(namespaces or {}).get("labels") or {}


def _is_waiting(pod: Object) -> bool:
    spec = part_of(pod, "spec")
    return (
        not spec.get("nodeName")
        and not metadata_of(pod).get("deletionTimestamp")
        and spec.get("schedulerName", _NAME) == _NAME
        and part_of(pod, "status").get("phase") not in ("Succeeded", "Failed")
    )


def _has_new_spec(change: ObjectChange) -> bool:
    if change.before is None or change.after is None:
        return True
    same_labels = metadata_of(change.before).get("labels") == metadata_of(change.after).get(
        "labels"
    )
    return part_of(change.before, "spec") != part_of(change.after, "spec") or not same_labels


def _is_news(change: ObjectChange) -> bool:
    """Whether a node is another one for pods than before, apart from its signs of life."""
    if change.before is None or change.after is None:
        return True
    return (
        part_of(change.before, "spec") != part_of(change.after, "spec")
        or metadata_of(change.before).get("labels") != metadata_of(change.after).get("labels")
        or part_of(change.before, "status", "allocatable")
        != part_of(change.after, "status", "allocatable")
    )


def _turn(pod: Object) -> tuple[int, str, str]:
    metadata = metadata_of(pod)
    priority = int(part_of(pod, "spec").get("priority") or 0)
    return -priority, str(metadata.get("creationTimestamp", "")), str(metadata.get("name", ""))
