"""Pods whose node is gone."""

from __future__ import annotations

from collections.abc import Iterable

from stockman_lab.kube.controllers.controller import Controller
from stockman_lab.kube.controllers.objects import ObjectChange, named_key
from stockman_lab.kube.controllers.pods import disrupt, phase
from stockman_lab.kube.objects import metadata_of

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
