"""What a container can read: files of mounted maps and secrets, and variables."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass

from stockman_lab.kube.controllers.objects import Objects, named_key
from stockman_lab.kube.objects import Object, entries_of, metadata_of, part_of


@dataclass(frozen=True, slots=True)
class Inside:
    """The view of one container."""

    objects: Objects
    pod: Object
    container: Object

    @property
    def namespace(self) -> str:
        return str(metadata_of(self.pod).get("namespace", ""))

    def file(self, path: str) -> str | None:
        """The text of a file; None: there is none."""
        for mount in entries_of(self.container, "volumeMounts"):
            place = str(mount.get("mountPath", "")).rstrip("/")
            if path != place and not path.startswith(f"{place}/"):
                continue
            inner = path[len(place) :].strip("/") or str(mount.get("subPath", ""))
            if mount.get("subPath") and path != place:
                inner = f"{mount['subPath']}/{inner}"
            file = self._volume(str(mount.get("name", ""))).get(inner)
            if file is not None:
                return file
        return None

    def _volume(self, name: str) -> dict[str, str]:
        for volume in entries_of(self.pod, "spec", "volumes"):
            if volume.get("name") == name:
                made: dict[str, str] = {}
                for source in (volume, *entries_of(volume, "projected", "sources")):
                    made.update(self._source(source))
                return made
        return {}

    def _source(self, source: Object) -> Iterator[tuple[str, str]]:
        told, data = part_of(source, "configMap"), {}
        if told:
            data = self._data("configmaps", str(told.get("name", "")))
        elif part_of(source, "secret"):
            told = part_of(source, "secret")
            data = self._data("secrets", str(told.get("secretName") or told.get("name") or ""))
        items = entries_of(told, "items")
        for key, text in data.items():
            if not items:
                yield key, text
            for item in items:
                if item.get("key") == key:
                    yield str(item.get("path", key)), text

    def _data(self, plural: str, name: str) -> dict[str, str]:
        found = self.objects.get(plural, named_key(self.namespace, name))
        data = part_of(found or {}, "data")
        if plural == "configmaps":
            return {key: str(text) for key, text in data.items()}
        return {
            key: base64.b64decode(text).decode("utf-8", "replace") for key, text in data.items()
        }
