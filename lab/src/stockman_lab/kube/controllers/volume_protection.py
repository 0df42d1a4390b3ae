"""Claims and volumes that go only when nobody uses them."""

from __future__ import annotations

from collections.abc import Iterable

from stockman_lab.kube.controllers.controller import Controller
from stockman_lab.kube.controllers.objects import ObjectChange, named_key
from stockman_lab.kube.objects import Object, entries_of, metadata_of, part_of

_CLAIM, _VOLUME = "kubernetes.io/pvc-protection", "kubernetes.io/pv-protection"


def claims_of(pod: Object) -> list[str]:
    """Keys of the claims that a pod uses."""
    namespace = metadata_of(pod)["namespace"]
    named_keys = []
    for entry in entries_of(pod, "spec", "volumes"):
        name = part_of(entry, "persistentVolumeClaim").get("claimName")
        if name:
            named_keys.append(named_key(namespace, name))
        elif "ephemeral" in entry:
            named_keys.append(named_key(namespace, f"{metadata_of(pod)['name']}-{entry['name']}"))
    return named_keys


class VolumeProtection(Controller):
    """Takes the finalizer from what is no longer used."""

    name = "persistentvolume-protection"
    component = "pv-protection-controller"
    watches = ("persistentvolumeclaims", "persistentvolumes", "pods")

    def keys(self, change: ObjectChange) -> Iterable[str]:
        """What goes, and the claims of pods that ended."""
        if change.key.resource == "pods":
            ended = part_of(change.newest, "status").get("phase") in {"Succeeded", "Failed"}
            return claims_of(change.newest) if change.after is None or ended else ()
        if change.after is None:
            volume = part_of(change.newest, "spec").get("volumeName")
            return (volume,) if volume else ()
        going = metadata_of(change.after).get("deletionTimestamp")
        return (change.name,) if going or change.key.resource == "persistentvolumes" else ()

    def sync(self, key: str) -> None:
        """Let a claim or a volume go if nobody uses it."""
        is_claim = "/" in key
        plural = "persistentvolumeclaims" if is_claim else "persistentvolumes"
        finalizer = _CLAIM if is_claim else _VOLUME
        content = self.objects.get(plural, key)
        if content is None or not metadata_of(content).get("deletionTimestamp"):
            return
        finalizers = metadata_of(content).get("finalizers") or []
        used = (
            self._is_used(key) if is_claim else part_of(content, "status").get("phase") == "Bound"
        )
        if finalizer in finalizers and not used:
            kept = [one for one in finalizers if one != finalizer] or None
            self.client.patch(content, {"metadata": {"finalizers": kept}})

    def _is_used(self, key: str) -> bool:
        namespace = key.partition("/")[0]
        return any(
            key in claims_of(pod)
            and part_of(pod, "spec").get("nodeName")
            and part_of(pod, "status").get("phase") not in {"Succeeded", "Failed"}
            for pod in self.objects.listed("pods", namespace)
        )
