"""Creating objects."""

from __future__ import annotations

from stockman_lab.kube.admission.draft import Draft
from stockman_lab.kube.admission.plugins import admit_create
from stockman_lab.kube.admission.strategies import prepare_create, reset_fields
from stockman_lab.kube.admission.validation import validate_create
from stockman_lab.kube.api.call import Call, seen_as
from stockman_lab.kube.api.decoding import read_object
from stockman_lab.kube.api.options import check_options
from stockman_lab.kube.failures import Failure, bad_request, exists, invalid
from stockman_lab.kube.objects import Object, metadata_of, written_time
from stockman_lab.kube.patching.apply import Writing, track_update
from stockman_lab.kube.schema.defaulting import fill_defaults
from stockman_lab.kube.schema.rewriting import rewritten_object
from stockman_lab.kube.store.entries import Entry, laid_out
from stockman_lab.kube.store.store import Taken

_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_SUFFIX = 5
_LONGEST_STEM = 63 - _SUFFIX
_TRIES = 8
EVENT_TTL = 3600


_SYSTEM = (
    "creationTimestamp",
    "uid",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "selfLink",
)


def create(call: Call) -> Entry:
    """Create what the body says; raises `Failure`."""
    check_options(call, "CreateOptions")
    content = read_object(call)
    set_namespace(call, content)
    for name in _SYSTEM:
        content["metadata"].pop(name, None)
    tracked = track_update(None, content, writing(call, content))
    return create_object(call, tracked)


def set_namespace(call: Call, content: Object) -> None:
    """Let an object be in the namespace of its path; raises `Failure`."""
    metadata = content.setdefault("metadata", {})
    if not call.resource.namespaced:
        return
    namespace = metadata.get("namespace")
    if namespace and namespace != call.namespace:
        raise bad_request(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    metadata["namespace"] = call.namespace


def writing(call: Call, content: Object, subresource: str = "") -> Writing:
    """In which way a request writes."""
    return Writing(
        call.request.manager or "unknown",
        call.resource.api_version,
        call.shape,
        written_time(call.context.now),
        subresource or call.route.subresource,
        reset_fields(call.draft(content)),
    )


def create_object(call: Call, content: Object) -> Entry:
    """Create an object that was read already; raises `Failure`."""
    draft = call.draft(content)
    metadata = content["metadata"]
    if metadata.get("resourceVersion"):
        raise Failure(500, "", "resourceVersion should not be set on objects to be created")
    admit_create(draft)
    stem = metadata.get("generateName", "") if not metadata.get("name") else ""
    for attempt in range(_TRIES):
        if stem:
            metadata["name"] = f"{stem[:_LONGEST_STEM]}{_suffix(draft)}"
        if attempt == 0:
            _begin(draft)
        try:
            return _store(call, draft)
        except Taken:
            if not stem:
                raise exists(call.named, metadata["name"]) from None
    raise exists(call.named, metadata["name"])


def _begin(draft: Draft) -> None:
    metadata = draft.content["metadata"]
    metadata.pop("deletionTimestamp", None)
    metadata["uid"] = draft.context.dice.uuid()
    metadata["creationTimestamp"] = written_time(draft.context.now)
    prepare_create(draft)
    causes = validate_create(draft)
    if causes:
        raise invalid(draft.named, draft.name, causes)


def _suffix(draft: Draft) -> str:
    return "".join(_LETTERS[draft.context.dice.below(len(_LETTERS))] for _ in range(_SUFFIX))


def _store(call: Call, draft: Draft) -> Entry:
    content = finished(call, draft.content)
    key = call.key(draft.name)
    if call.is_dry:
        if call.store.get(key) is not None:
            raise Taken
        metadata_of(content).pop("resourceVersion", None)
        return Entry(key, 0, 0, laid_out(key, content))
    lease = call.store.lease(EVENT_TTL) if call.resource.plural == "events" else 0
    result = call.store.create(key, content, lease)
    return seen_as(result, call.resource)


def finished(call: Call, content: Object, live: Object | None = None) -> Object:
    """An object as it is written: of built-in kinds with all fields in their order."""
    if call.resource.is_custom:
        fill_defaults(call.shape, content)  # also of a status that was just taken away
        return content
    return rewritten_object(call.shape, content, live or {})
