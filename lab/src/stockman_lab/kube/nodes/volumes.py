"""Volumes of pods: those of a storage driver have to be attached before a pod begins."""

from __future__ import annotations

from stockman_lab.kube.controllers.attaching import is_attachable
from stockman_lab.kube.controllers.objects import Objects
from stockman_lab.kube.controllers.volume_protection import claims_of
from stockman_lab.kube.objects import Object, part_of


def volumes_of(objects: Objects, pod: Object) -> list[str]:
    """Names of the volumes behind the claims of a pod."""
    claims = (objects.get("persistentvolumeclaims", claim) for claim in claims_of(pod))
    volume_names = (part_of(claim or {}, "spec").get("volumeName") for claim in claims)
    return [str(volume_name) for volume_name in volume_names if volume_name]


def is_waiting(objects: Objects, pod: Object) -> bool:
    """Whether a pod waits for a volume to be attached to its node."""
    volumes = {volume for volume in volumes_of(objects, pod) if _needs_driver(objects, volume)}
    if not volumes:
        return False
    node = part_of(pod, "spec").get("nodeName")
    attached = {
        part_of(one, "spec", "source").get("persistentVolumeName")
        for one in objects.listed("volumeattachments")
        if part_of(one, "spec").get("nodeName") == node and part_of(one, "status").get("attached")
    }
    return not volumes <= attached


def _needs_driver(objects: Objects, name: str) -> bool:
    volume = objects.get("persistentvolumes", name)
    return volume is not None and is_attachable(objects, volume)
