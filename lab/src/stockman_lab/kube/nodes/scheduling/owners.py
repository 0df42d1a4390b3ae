"""Whom a pod belongs to, as far as that spreads it over nodes."""

from __future__ import annotations

from stockman_lab.kube.controllers.objects import Objects
from stockman_lab.kube.objects import Object, metadata_of, part_of

_OWNERS = {"ReplicaSet": "replicasets", "StatefulSet": "statefulsets"}


def spread_selector(objects: Objects, pod: Object) -> Object | None:
    """What services and owners of a pod select together. None: it belongs to nobody."""
    metadata = metadata_of(pod)
    space, labels = str(metadata.get("namespace", "")), metadata.get("labels") or {}
    wanted: dict[str, str] = {}
    expressions: list[Object] = []
    found = False
    for service in objects.listed("services", space):
        selector = part_of(service, "spec").get("selector") or {}
        if selector and all(labels.get(name) == value for name, value in selector.items()):
            wanted.update(selector)
            found = True
    for owner in metadata.get("ownerReferences") or []:
        plural = _OWNERS.get(str(owner.get("kind")))
        if not owner.get("controller") or plural is None:
            continue
        owning = objects.get(plural, f"{space}/{owner['name']}")
        selector = part_of(owning or {}, "spec", "selector")
        if selector:
            wanted.update(selector.get("matchLabels") or {})
            expressions += selector.get("matchExpressions") or []
            found = True
    return {"matchLabels": wanted, "matchExpressions": expressions} if found else None
