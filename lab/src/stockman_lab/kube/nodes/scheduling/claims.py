"""Volumes of pods that wait for a node, or that a node has to wait for."""

from __future__ import annotations

from collections.abc import Iterator

from stockman_lab.kube.controllers.client import Client, Refused
from stockman_lab.kube.controllers.objects import Objects
from stockman_lab.kube.objects import Object, entries_of, metadata_of, part_of

SELECTED = "volume.kubernetes.io/selected-node"
Reach = dict[str, list[dict[str, object]]]


class Claims:
    """What the claims of a pod mean for its place."""

    def __init__(self, objects: Objects, client: Client) -> None:
        self._objects = objects
        self._client = client

    def look(self, pod: Object, nodes: int) -> tuple[str, Reach]:
        """Why a pod cannot be placed yet, if so, and from where its volumes can be reached."""
        reach: Reach = {}
        space = str(metadata_of(pod).get("namespace", ""))
        for name in _names(pod):
            claim = self._objects.get("persistentvolumeclaims", f"{space}/{name}")
            if claim is None:
                text = f'persistentvolumeclaim "{name}" not found'
                return f"0/{nodes} nodes are available: {text}. not found", reach
            if metadata_of(claim).get("deletionTimestamp"):
                text = f'persistentvolumeclaim "{name}" is being deleted'
                return f"0/{nodes} nodes are available: {text}. not found", reach
            if not _is_bound(claim):
                if not self._waits_for_pod(claim):
                    text = "pod has unbound immediate PersistentVolumeClaims"
                    return f"0/{nodes} nodes are available: {text}. not found", reach
                continue
            volume = self._objects.get("persistentvolumes", claim["spec"]["volumeName"])
            terms = entries_of(
                part_of(volume or {}, "spec", "nodeAffinity", "required"), "nodeSelectorTerms"
            )
            if terms:
                reach[name] = terms
        return "", reach

    def choose(self, pod: Object, node: str) -> bool:
        """Tell provisioners where a pod is going to be; returns whether all is bound."""
        space = str(metadata_of(pod).get("namespace", ""))
        is_ready = True
        for name in _names(pod):
            claim = self._objects.get("persistentvolumeclaims", f"{space}/{name}")
            if claim is None or _is_bound(claim):
                continue
            is_ready = False
            annotations = metadata_of(claim).get("annotations") or {}
            if annotations.get(SELECTED) != node:
                try:
                    self._client.patch(claim, {"metadata": {"annotations": {SELECTED: node}}})
                except Refused:
                    continue
        return is_ready

    def _waits_for_pod(self, claim: Object) -> bool:
        name = part_of(claim, "spec").get("storageClassName")
        storageclasses = self._objects.get("storageclasses", str(name)) if name else None
        return (storageclasses or {}).get("volumeBindingMode") == "WaitForFirstConsumer"


def _is_bound(claim: Object) -> bool:
    named = bool(part_of(claim, "spec").get("volumeName"))
    return named and part_of(claim, "status").get("phase") == "Bound"


def _names(pod: Object) -> Iterator[str]:
    for volume in entries_of(pod, "spec", "volumes"):
        if "persistentVolumeClaim" in volume:
            yield str(volume["persistentVolumeClaim"].get("claimName", ""))
        elif "ephemeral" in volume:
            yield f"{metadata_of(pod)['name']}-{volume['name']}"
