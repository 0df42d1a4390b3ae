"""Events that controllers write about objects."""

from __future__ import annotations

from collections.abc import Callable

from stockman_lab.kube.controllers.client import Client, Refused
from stockman_lab.kube.controllers.moments import read_time
from stockman_lab.kube.controllers.objects import Objects, named_key
from stockman_lab.kube.objects import Object, metadata_of, written_time

_NANOSECONDS = 1_000_000_000
_COMBINED = "(combined from similar events): "
_MOST_SIMILAR = 9
"""So many different events of one kind about one object are told each, the next ones together."""
_SIMILAR_SECONDS = 600.0


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
        self._component = component
        self._host = host

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
        involved = {name: one for name, one in reference.items() if one}
        now = written_time(self._clock())
        same, similar = self._similar(involved, kind, reason, message)
        component = self._component
        if same is None and similar >= _MOST_SIMILAR:
            message, component = f"{_COMBINED}{message}", ""
            same = self._combined(involved, kind, reason)
        if same is not None:
            self._again(same, now, message)
            return
        namespace = str(metadata.get("namespace") or "default")
        content: Object = {
            "metadata": {
                "name": self._name(namespace, str(metadata["name"])),
                "namespace": namespace,
            },
            "involvedObject": involved,
            "reason": reason,
            "message": message,
            "source": {
                "component": self._component,
                **({"host": self._host} if self._host else {}),
            },
            "firstTimestamp": now,
            "lastTimestamp": now,
            "count": 1,
            "type": kind,
            "eventTime": None,
            "reportingComponent": component,
            "reportingInstance": self._host,
        }
        try:
            self._client.create("v1", "Event", content)
        except Refused:
            return  # events are written as well as can be: nobody tries again

    def _again(self, event: Object, now: str, message: str) -> None:
        change: Object = {"count": event.get("count", 1) + 1, "lastTimestamp": now}
        if message != event.get("message"):
            change["message"] = message
        try:
            self._client.patch(event, change)
        except Refused:
            return

    def _name(self, namespace: str, name: str) -> str:
        moment = int(self._clock() * _NANOSECONDS)
        while self._objects.get("events", named_key(namespace, f"{name}.{moment:x}")) is not None:
            moment += 1
        return f"{name}.{moment:x}"

    def _about(self, involved: Object, kind: str, reason: str) -> list[Object]:
        namespace = str(involved.get("namespace") or "default")
        return [
            event
            for event in self._objects.listed_from("events", namespace, f"{involved['name']}.")
            if event.get("reason") == reason
            and event.get("type") == kind
            and event.get("involvedObject", {}).get("uid") == involved.get("uid")
            and event.get("involvedObject", {}).get("fieldPath") == involved.get("fieldPath")
            and event.get("source", {}).get("component") == self._component
        ]

    def _similar(
        self, involved: Object, kind: str, reason: str, message: str
    ) -> tuple[Object | None, int]:
        """An event that says the same, and how many say something similar."""
        since = self._clock() - _SIMILAR_SECONDS
        similar = 0
        for event in self._about(involved, kind, reason):
            if event.get("message") == message:
                return event, 0
            similar += read_time(event.get("lastTimestamp")) > since
        return None, similar

    def _combined(self, involved: Object, kind: str, reason: str) -> Object | None:
        for event in self._about(involved, kind, reason):
            if str(event.get("message")).startswith(_COMBINED):
                return event
        return None
