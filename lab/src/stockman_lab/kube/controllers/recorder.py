"""Events that controllers write about objects."""

from __future__ import annotations

from collections.abc import Callable

from stockman_lab.kube.controllers.client import Client, Refused
from stockman_lab.kube.controllers.objects import Objects, named_key
from stockman_lab.kube.objects import Object, metadata_of, written_time

_NANOSECONDS = 1_000_000_000
_SAME, _ABOUT = ("reason", "message", "source"), ("uid", "fieldPath")
"""What events have in common that are counted as one, and what the objects they are about have."""


class Recorder:
    """Writes events in the name of one component."""

    def __init__(
        self,
        objects: Objects,
        client: Client,
        clock: Callable[[], float],
        component: str,
        host: str = "",
    ) -> None:
        self._objects = objects
        self._client = client
        self._clock = clock
        self._source = {"component": component, **({"host": host} if host else {})}

    def normal(self, about: Object, reason: str, message: str) -> None:
        """Something went as it should."""
        self._record(about, "Normal", reason, message)

    def warning(self, about: Object, reason: str, message: str) -> None:
        """Something did not."""
        self._record(about, "Warning", reason, message)

    def _record(self, about: Object, kind: str, reason: str, message: str) -> None:
        metadata = metadata_of(about)
        reference = {
            "kind": about.get("kind"),
            "namespace": metadata.get("namespace"),
            "name": metadata.get("name"),
            "uid": metadata.get("uid"),
            "apiVersion": about.get("apiVersion"),
            "resourceVersion": metadata.get("resourceVersion"),
            "fieldPath": about.get("fieldPath"),
        }
        namespace = str(metadata.get("namespace") or "default")
        now = written_time(self._clock())
        content: Object = {
            "involvedObject": {name: value for name, value in reference.items() if value},
            "reason": reason,
            "message": message,
            "source": self._source,
            "lastTimestamp": now,
            "type": kind,
        }
        same = self._same(namespace, content)
        try:
            if same is not None:
                change = {"count": same.get("count", 1) + 1, "lastTimestamp": now}
                self._client.patch(same, change)
                return
            name = self._name(namespace, str(metadata["name"]))
            content["metadata"] = {"name": name, "namespace": namespace}
            content |= {
                "firstTimestamp": now,
                "count": 1,
                "eventTime": None,
                "reportingComponent": self._source["component"],
                "reportingInstance": self._source.get("host", ""),
            }
            self._client.create("v1", "Event", content)
        except Refused:
            return  # events are written as well as can be: nobody tries again

    def _name(self, namespace: str, name: str) -> str:
        moment = int(self._clock() * _NANOSECONDS)
        while self._objects.get("events", named_key(namespace, f"{name}.{moment:x}")) is not None:
            moment += 1
        return f"{name}.{moment:x}"

    def _same(self, namespace: str, content: Object) -> Object | None:
        """An event that says the same; None: there is none."""
        involved = content["involvedObject"]
        for event in self._objects.listed_from("events", namespace, f"{involved['name']}."):
            known = event.get("involvedObject", {})
            is_same = all(event.get(part) == content[part] for part in _SAME)
            if is_same and all(known.get(part) == involved.get(part) for part in _ABOUT):
                return event
        return None
