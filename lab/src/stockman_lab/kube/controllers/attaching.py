"""Volumes are to be attached to the nodes of their pods, and detached when the pods are gone.

What is made of these attachments is up to the storage drivers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from stockman_lab.kube.controllers import pods as pod_facts
from stockman_lab.kube.controllers.controller import Controller
from stockman_lab.kube.controllers.objects import ObjectChange, Objects, named_key
from stockman_lab.kube.controllers.volume_binding import claims_of
from stockman_lab.kube.objects import Object, metadata_of, part_of

_FORCED = 360.0
"""Seconds after which a volume is taken from a node that does not answer."""
_OWN = "csi-"
"""What names of attachments begin with that are made here; others are their makers' affair."""
_OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"


class Attaching(Controller):
    """Makes and deletes attachments."""

    name = "attachdetach"
    component = "attachdetach-controller"
    watches = ("pods", "volumeattachments", "persistentvolumeclaims", "nodes")

    def keys(self, change: ObjectChange) -> Iterable[str]:
        """Volumes: of a pod those it uses, of an attachment the one it is about."""
        match change.key.resource:
            case "pods":
                names = claims_of(change.newest) if _matters(change) else []
                return [one for name in names if (one := self._volume(name))]
            case "persistentvolumeclaims":
                volume = part_of(change.newest, "spec").get("volumeName")
                return (volume,) if volume else ()
            case "nodes":
                return (
                    [
                        str(part_of(attachment, "spec", "source").get("persistentVolumeName"))
                        for attachment in self.objects.listed("volumeattachments")
                        if part_of(attachment, "spec").get("nodeName") == change.key.name
                    ]
                    if _is_moved(change)
                    else ()
                )
        return (str(part_of(change.newest, "spec", "source").get("persistentVolumeName")),)

    def _volume(self, claim: str) -> str:
        persistentvolumeclaims = self.objects.get("persistentvolumeclaims", claim)
        return str(part_of(persistentvolumeclaims or {}, "spec").get("volumeName", ""))

    def sync(self, key: str) -> None:
        """Bring the attachments of one volume in order."""
        volume = self.objects.get("persistentvolumes", key)
        driver = part_of(volume or {}, "spec", "csi").get("driver", "")
        known = {
            part_of(attachment, "spec")["nodeName"]: attachment
            for attachment in self.objects.listed("volumeattachments")
            if part_of(attachment, "spec", "source").get("persistentVolumeName") == key
            and metadata_of(attachment)["name"].startswith(_OWN)
        }
        is_wanted = volume is not None and is_attachable(self.objects, volume)
        nodes = self._nodes(key, volume) if volume is not None and is_wanted else []
        for node, one in known.items():
            is_going = metadata_of(one).get("deletionTimestamp")
            if node not in nodes and not is_going and self._may_detach(key, node):
                self.client.delete(one)
        single = volume is not None and "ReadWriteMany" not in (
            part_of(volume, "spec").get("accessModes") or ()
        )
        for node in nodes:
            if node in known or volume is None:
                continue
            if single and known:
                self._refuse(key, volume, node)
                continue
            known[node] = self._create(key, volume, driver, node)

    def _nodes(self, key: str, volume: Object) -> list[str]:
        reference = part_of(volume, "spec", "claimRef")
        claim = named_key(reference.get("namespace", ""), reference.get("name", ""))
        pods = self.objects.listed("pods", reference.get("namespace", ""))
        result = [
            str(part_of(pod, "spec")["nodeName"])
            for pod in pods
            if claim in claims_of(pod)
            and part_of(pod, "spec").get("nodeName")
            and pod_facts.phase(pod) not in {"Succeeded", "Failed"}
        ]
        return list(dict.fromkeys(result))

    def _refuse(self, key: str, volume: Object, node: str) -> None:
        reference = part_of(volume, "spec", "claimRef")
        claim = named_key(reference["namespace"], reference["name"])
        for pod in self.objects.listed("pods", reference["namespace"]):
            if claim in claims_of(pod) and part_of(pod, "spec").get("nodeName") == node:
                text = (
                    f'Multi-Attach error for volume "{key}" Volume is already exclusively attached'
                    " to one node and can't be attached to another"
                )
                self.recorder.warning(pod, "FailedAttachVolume", text)

    def _create(self, key: str, volume: Object, driver: str, node: str) -> Object:
        handle = part_of(volume, "spec", "csi").get("volumeHandle", "")
        code = hashlib.sha256(f"{handle}{driver}{node}".encode()).hexdigest()
        content: Object = {
            "metadata": {"name": f"{_OWN}{code}"},
            "spec": {
                "attacher": driver,
                "nodeName": node,
                "source": {"persistentVolumeName": key},
            },
        }
        return self.client.create("storage.k8s.io/v1", "VolumeAttachment", content)

    def _may_detach(self, key: str, node: str) -> bool:
        """Whether a node let go of a volume: a silent one is believed only after a while."""
        nodes = self.objects.get("nodes", node)
        ready = pod_facts.condition(nodes or {}, "Ready") or {}
        tainted = any(
            taint["key"] == _OUT_OF_SERVICE
            for taint in part_of(nodes or {}, "spec").get("taints") or ()
        )
        note = f"{self.name} {key} {node}"
        if nodes is None or ready.get("status") == "True" or tainted:
            self.context.notes.pop(note, None)
            return True
        since = float(self.context.notes.setdefault(note, str(self.now)))
        if self.now >= since + _FORCED:
            del self.context.notes[note]
            return True
        self.look_again(key, since + _FORCED)
        return False


def is_attachable(objects: Objects, volume: Object) -> bool:
    """Whether a volume has to be attached: it is a driver's that does not say otherwise."""
    name = part_of(volume, "spec", "csi").get("driver", "")
    driver = objects.get("csidrivers", name) if name else None
    return bool(name) and part_of(driver or {}, "spec").get("attachRequired", True) is not False


def _matters(change: ObjectChange) -> bool:
    """Whether a pod came to its node, ended or went."""
    if change.before is None or change.after is None:
        return True
    before, after = change.before, change.after
    placed = part_of(before, "spec").get("nodeName") != part_of(after, "spec").get("nodeName")
    return placed or pod_facts.phase(before) != pod_facts.phase(after)


def _is_moved(change: ObjectChange) -> bool:
    before, after = change.before or {}, change.after or {}
    ready = [(pod_facts.condition(item, "Ready") or {}).get("status") for item in (before, after)]
    taints = [part_of(item, "spec").get("taints") for item in (before, after)]
    return ready[0] != ready[1] or taints[0] != taints[1]
