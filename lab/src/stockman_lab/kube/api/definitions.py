"""Custom resource definitions: they take effect at once, and take their objects along."""

from __future__ import annotations

from stockman.etcd.kubernetes.keys import ObjectKey
from stockman_lab.kube.api.call import Call
from stockman_lab.kube.objects import Object, copied, metadata_of, part_of, written_time
from stockman_lab.kube.patching.apply import Writing, track_update
from stockman_lab.kube.schema.rewriting import rewritten
from stockman_lab.kube.store.entries import Entry
from stockman_lab.kube.store.store import Changed

_NAMES = ("plural", "singular", "shortNames", "kind", "listKind", "categories")
_PLACE = ("apiextensions.k8s.io", "customresourcedefinitions")
_CLEANUP = "customresourcecleanup.apiextensions.k8s.io"
_CONDITIONS = (
    ("NamesAccepted", "NoConflicts", "no conflicts found"),
    ("Established", "InitialNamesAccepted", "the initial names have been accepted"),
)
_PENDING = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon"


def is_definition(call: Call) -> bool:
    """Whether a request is about definitions."""
    return (call.resource.group, call.resource.plural) == _PLACE


def establish(call: Call, entry: Entry) -> Entry:
    """Let a definition be served, which its status tells a moment after it was written."""
    if not is_definition(call) or call.is_dry or not entry.revision:
        return entry
    content = copied(entry.content)
    status = content.setdefault("status", {})
    names = part_of(content, "spec", "names")
    known = part_of(status, "acceptedNames")
    accepted = {name: value for name in _NAMES if (value := names.get(name))}
    if known == accepted:
        return entry
    status["acceptedNames"] = accepted
    now = written_time(call.context.now)
    before = {condition["type"]: condition for condition in status.get("conditions") or []}
    status["conditions"] = [
        before.get(kind) or _condition(kind, reason, message, now)
        for kind, reason, message in _CONDITIONS
    ]
    writing = Writing(
        "kube-apiserver", call.resource.api_version, call.shape, now, "status", (("f:spec",),)
    )
    result = rewritten(call.shape, track_update(entry.content, content, writing))
    if isinstance(result, dict):
        _put(call, entry, result)
    return entry


def _put(call: Call, entry: Entry, content: Object) -> Entry:
    try:
        return call.store.update(entry, content)
    except Changed:
        return entry


def _condition(kind: str, reason: str, message: str, now: str) -> Object:
    return {
        "type": kind,
        "status": "True",
        "lastTransitionTime": now,
        "reason": reason,
        "message": message,
    }


def terminate(call: Call, entry: Entry) -> Entry:
    """Let a definition go with all its objects; returns what it was in the beginning of that."""
    content = copied(entry.content)
    metadata = content["metadata"]
    now = written_time(call.context.now)
    if metadata.get("deletionTimestamp"):
        return entry
    metadata["deletionTimestamp"] = now
    metadata["finalizers"] = [*(metadata.get("finalizers") or []), _CLEANUP]
    status = content.setdefault("status", {})
    ending = _condition("Terminating", "InstanceDeletionPending", _PENDING, now)
    status["conditions"] = [*(status.get("conditions") or []), ending]
    result = rewritten(call.shape, content)
    marked = _put(call, entry, result if isinstance(result, dict) else content)
    for one in call.store.list(_instances(content)).entries:
        if metadata_of(one.content).get("finalizers"):
            gone = copied(one.content)
            gone["metadata"] |= {"deletionTimestamp": now, "deletionGracePeriodSeconds": 0}
            _put(call, one, gone)
        else:
            call.store.delete(one)
    finish(call, metadata["name"])
    return marked


def _instances(content: Object) -> bytes:
    spec = part_of(content, "spec")
    names = part_of(spec, "names")
    return ObjectKey(names["plural"], "", group=spec["group"]).key + b"/"


def finish(call: Call, name: str = "") -> None:
    """Take a definition away that waited for its last object."""
    if not name:
        if not call.resource.is_custom:
            return
        name = f"{call.resource.plural}.{call.resource.group}"
    entry = call.store.get(ObjectKey(_PLACE[1], name).key)
    if entry is None or not metadata_of(entry.content).get("deletionTimestamp"):
        return
    if call.store.list(_instances(entry.content)).entries:
        return
    finalizers = [
        finalizer for finalizer in metadata_of(entry.content)["finalizers"] if finalizer != _CLEANUP
    ]
    if finalizers:
        content = copied(entry.content)
        content["metadata"]["finalizers"] = finalizers
        _put(call, entry, content)
    else:
        call.store.delete(entry)
