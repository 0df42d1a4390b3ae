"""Objects in the version in which somebody wants them."""

from __future__ import annotations

from stockman_lab.kube.objects import Object
from stockman_lab.kube.schema.resource import Resource
from stockman_lab.kube.store.entries import Entry

_EVENTS = "events.k8s.io"
_RENAMED = {
    "involvedObject": "regarding",
    "message": "note",
    "source": "deprecatedSource",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
    "reportingComponent": "reportingController",
}
_ORDER = (
    "kind",
    "apiVersion",
    "metadata",
    "eventTime",
    "series",
    "reportingController",
    "reportingInstance",
    "action",
    "reason",
    "regarding",
    "related",
    "note",
    "type",
    "deprecatedSource",
    "deprecatedFirstTimestamp",
    "deprecatedLastTimestamp",
    "deprecatedCount",
)
_EMPTY = frozenset({"reportingComponent", "reportingInstance"})
_NAMED_BACK = {new: old for old, new in _RENAMED.items()}


def seen_as(entry: Entry, resource: Resource) -> Entry:
    """An object as a resource shows it."""
    if entry.content.get("apiVersion") == resource.api_version:
        return entry
    content = {**entry.content, "apiVersion": resource.api_version}
    if resource.group == _EVENTS:
        content = {
            _RENAMED.get(name, name): one
            for name, one in content.items()
            if one != "" or name not in _EMPTY
        }
        content = {name: content[name] for name in _ORDER if name in content} | content
    return Entry(entry.key, entry.revision, entry.created, content)


def to_store(content: Object, resource: Resource) -> Object:
    """An object as it is stored."""
    if resource.group == _EVENTS:
        made = {_NAMED_BACK.get(name, name): one for name, one in content.items()}
        return {**made, "apiVersion": "v1"}
    return content
