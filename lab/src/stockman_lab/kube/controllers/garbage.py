"""Garbage collection: what belongs to somebody goes with them, before them, or stays alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stockman.etcd.kubernetes.keys import ObjectKey
from stockman_lab.kube.controllers.client import Refused
from stockman_lab.kube.controllers.controller import Controller
from stockman_lab.kube.controllers.objects import ObjectChange, named_key
from stockman_lab.kube.objects import Object, metadata_of

_FOREGROUND, _ORPHAN = "foregroundDeletion", "orphan"
_WATCHED = ("ownerReferences", "finalizers", "deletionTimestamp")


class GarbageCollector(Controller):
    """Follows references to owners."""

    name = "garbage-collector"
    component = "garbage-collector-controller"
    watches = ()

    def keys(self, change: ObjectChange) -> Iterable[str]:
        """An object that names owners or waits for others; of one that is gone, its family."""
        if change.key.resource == "events":
            return
        metadata = metadata_of(change.newest)
        if change.after is None:
            for key, _ in self.objects.owned(metadata.get("uid", "")):
                yield _written(key)
            yield from self._owners(change)
        elif change.before is None or _is_moved(change):
            if metadata.get("ownerReferences") or _waits(metadata):
                yield _written(change.key)
            yield from self._owners(change) if _is_moved(change) else ()

    def _owners(self, change: ObjectChange) -> Iterator[str]:
        for content in (change.before, change.after):
            for reference in metadata_of(content or {}).get("ownerReferences") or ():
                result = self._found(reference, change.key.namespace)
                if result is not None and _waits(metadata_of(result[1])):
                    yield _written(result[0])

    def _found(self, reference: Object, namespace: str) -> tuple[ObjectKey, Object] | None:
        """The owner that a reference means; None: there is none. Raises `Refused`."""
        pretended: Object = {"apiVersion": reference["apiVersion"], "kind": reference["kind"]}
        try:
            resource = self.client.resource_of(pretended)
        except Refused:
            return None
        group = resource.group if resource.is_custom else ""
        place = namespace if resource.namespaced else ""
        key = ObjectKey(resource.plural, reference["name"], place, group)
        content = self.objects.get(key.resource, named_key(place, key.name), group)
        if content is None or metadata_of(content).get("uid") != reference["uid"]:
            return None
        return key, content

    def sync(self, key: str) -> None:
        """Decide about one object."""
        place = _read(key)
        name = named_key(place.namespace, place.name)
        content = self.objects.get(place.resource, name, place.group)
        if content is None:
            return
        metadata = metadata_of(content)
        finalizers = metadata.get("finalizers") or []
        if metadata.get("deletionTimestamp"):
            if _ORPHAN in finalizers:
                self._orphan(content)
            elif _FOREGROUND in finalizers:
                self._wait_for_dependents(content)
            return
        self._judge(place, content)

    def _judge(self, object_key: ObjectKey, content: Object) -> None:
        metadata = metadata_of(content)
        references = metadata.get("ownerReferences") or []
        if not references:
            return
        solid, waiting, dangling = [], [], []
        for reference in references:
            owner = self._found(reference, object_key.namespace)
            if owner is None:
                dangling.append(reference)
            elif _is_foreground(metadata_of(owner[1])) and reference.get("blockOwnerDeletion"):
                waiting.append(reference)
            else:
                solid.append(reference)
        if solid:
            if dangling or waiting:
                self._keep_references(content, solid)
            return
        if waiting and self.objects.owned(metadata["uid"]):
            self.client.delete(content, "Foreground")
            return
        finalizers = metadata.get("finalizers") or []
        if _ORPHAN in finalizers:
            policy = "Orphan"
        else:
            policy = "Foreground" if _FOREGROUND in finalizers else "Background"
        self.client.delete(content, policy)

    def _keep_references(self, content: Object, kept: list[Object]) -> None:
        change: Object = {
            "metadata": {"ownerReferences": kept or None, "uid": metadata_of(content)["uid"]}
        }
        self.client.patch(content, change)

    def _orphan(self, content: Object) -> None:
        uid = metadata_of(content)["uid"]
        for _, one in self.objects.owned(uid):
            kept = [each for each in metadata_of(one)["ownerReferences"] if each["uid"] != uid]
            try:
                self._keep_references(one, kept)
            except Refused as why:
                if not why.is_absent:
                    raise
        self._release(content, _ORPHAN)

    def _wait_for_dependents(self, content: Object) -> None:
        uid = metadata_of(content)["uid"]
        blocking = [
            (key, one)
            for key, one in self.objects.owned(uid)
            if any(
                each["uid"] == uid and each.get("blockOwnerDeletion")
                for each in metadata_of(one)["ownerReferences"]
            )
        ]
        if not blocking:
            self._release(content, _FOREGROUND)
            return
        for key, one in blocking:
            if not metadata_of(one).get("deletionTimestamp"):
                self._judge(key, one)

    def _release(self, content: Object, finalizer: str) -> None:
        kept = [item for item in metadata_of(content)["finalizers"] if item != finalizer]
        change: Object = {
            "metadata": {
                "finalizers": kept or None,
                "resourceVersion": metadata_of(content)["resourceVersion"],
            }
        }
        try:
            self.client.patch(content, change)
        except Refused as why:
            if not why.is_absent:
                raise


def _waits(metadata: Object) -> bool:
    """Whether an object goes, but only after something happened to those who belong to it."""
    finalizers = metadata.get("finalizers") or ()
    waits = _FOREGROUND in finalizers or _ORPHAN in finalizers
    return bool(metadata.get("deletionTimestamp")) and waits


def _is_foreground(metadata: Object) -> bool:
    return bool(metadata.get("deletionTimestamp")) and _FOREGROUND in (
        metadata.get("finalizers") or ()
    )


def _is_moved(change: ObjectChange) -> bool:
    before, after = metadata_of(change.before or {}), metadata_of(change.after or {})
    return any(before.get(name) != after.get(name) for name in _WATCHED)


def _written(key: ObjectKey) -> str:
    return "|".join((key.group, key.resource, key.namespace, key.name))


def _read(text: str) -> ObjectKey:
    group, resource, namespace, name = text.split("|")
    return ObjectKey(resource, name, namespace, group)
