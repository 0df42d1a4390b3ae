"""Pods on nodes that no longer want them."""

from __future__ import annotations

from collections.abc import Iterable

from stockman_lab.kube.controllers.client import read_time
from stockman_lab.kube.controllers.controller import Controller
from stockman_lab.kube.controllers.node_fitting import tolerates
from stockman_lab.kube.controllers.objects import ObjectChange, named_key
from stockman_lab.kube.controllers.pods import disrupt, is_going, phase
from stockman_lab.kube.objects import Object, entries_of, metadata_of, part_of

_QUARANTINE = 40.0
_PERIOD = 20.0


class PodCollection(Controller):
    """Deletes pods of nodes that are no longer there, after a while."""

    name = "pod-garbage-collector"
    component = "pod-garbage-collector"
    watches = ("nodes",)

    def keys(self, change: ObjectChange) -> Iterable[str]:
        """A node that went."""
        return (change.key.name,) if change.after is None else ()

    def sync(self, key: str) -> None:
        """Wait a while; then delete the pods if the node is not back."""
        note = f"{self.name} {key}"
        if self.objects.get("nodes", key) is not None:
            self.context.notes.pop(note, None)
            return
        since = self.context.notes.get(note)
        if since is None:
            self.context.notes[note] = str(self.now)
            period = self.context.dice.between(0.0, _PERIOD)
            self.look_again(key, self.now + _QUARANTINE + period)
            return
        if self.now < float(since) + _QUARANTINE:
            return
        del self.context.notes[note]
        for pod in self.objects.pods_on(key):
            if phase(pod) not in {"Succeeded", "Failed"}:
                text = "PodGC: node no longer exists"
                disrupt(self.client, pod, "DeletionByPodGC", text, self.today, "Failed")
            name = named_key(metadata_of(pod)["namespace"], metadata_of(pod)["name"])
            newest = self.objects.get("pods", name)
            if newest is not None:
                self.client.delete(newest, grace=0)


class TaintEviction(Controller):
    """Deletes pods that do not tolerate what drives them away, or not for so long."""

    name = "taint-eviction"
    component = "taint-eviction-controller"
    watches = ("nodes", "pods")

    def keys(self, change: ObjectChange) -> Iterable[str]:
        """A pod that has its node; all pods of a node whose taints changed."""
        if change.key.resource == "pods":
            placed = part_of(change.after or {}, "spec").get("nodeName")
            moved = part_of(change.before or {}, "spec").get("nodeName") != placed
            return (change.name,) if placed and moved else ()
        before, after = _driving(change.before or {}), _driving(change.after or {})
        if before == after:
            return ()
        return [
            named_key(metadata_of(pod)["namespace"], metadata_of(pod)["name"])
            for pod in self.objects.pods_on(change.key.name)
        ]

    def sync(self, key: str) -> None:
        """Delete a pod, now or when its patience ends."""
        pod = self.objects.get("pods", key)
        if pod is None or is_going(pod):
            return
        node = self.objects.get("nodes", part_of(pod, "spec").get("nodeName", ""))
        taints = _driving(node or {})
        note = f"{self.name} {key}"
        if not taints:
            if self.context.notes.pop(note, None):
                text = f"Cancelling deletion of Pod {key}"
                self.recorder.normal(pod, "TaintManagerEviction", text)
            return
        patience = _patience(pod, taints)
        if patience is None:
            return
        end = max(read_time(taint.get("timeAdded")) for taint in taints) + patience
        if patience and end > self.now:
            self.context.notes[note] = "waits"
            self.look_again(key, end)
            return
        self.context.notes.pop(note, None)
        self.recorder.normal(pod, "TaintManagerEviction", f"Marking for deletion Pod {key}")
        text = "Taint manager: deleting due to NoExecute taint"
        disrupt(self.client, pod, "DeletionByTaintManager", text, self.today)
        self.client.delete(pod)


def _driving(node: Object) -> list[Object]:
    return [entry for entry in entries_of(node, "spec", "taints") if entry["effect"] == "NoExecute"]


def _patience(pod: Object, taints: list[Object]) -> float | None:
    """Seconds that a pod stays; None: for ever."""
    seconds: list[float] = []
    for taint in taints:
        fitting = [
            entry for entry in entries_of(pod, "spec", "tolerations") if tolerates(entry, taint)
        ]
        if not fitting:
            return 0.0
        limits = [item["tolerationSeconds"] for item in fitting if "tolerationSeconds" in item]
        seconds += [max(min(limits), 0)] if limits else []
    return min(seconds) if seconds else None
