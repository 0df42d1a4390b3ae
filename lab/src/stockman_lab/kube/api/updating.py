"""Updating objects, whole or by patches."""

from __future__ import annotations

from collections.abc import Callable

from stockman_lab.kube.admission.draft import wrong
from stockman_lab.kube.admission.plugins import admit_update
from stockman_lab.kube.admission.strategies import (
    needs_version,
    prepare_update,
)
from stockman_lab.kube.admission.validation import validate_update
from stockman_lab.kube.api.call import Call, seen_as
from stockman_lab.kube.api.creating import finished, set_namespace, writing
from stockman_lab.kube.api.decoding import read_object
from stockman_lab.kube.api.options import check_options
from stockman_lab.kube.failures import Failure, Named, bad_request, conflict, invalid, not_found
from stockman_lab.kube.objects import Object, copied, metadata_of
from stockman_lab.kube.patching.apply import track_update
from stockman_lab.kube.store.entries import Entry, laid_out
from stockman_lab.kube.store.store import Changed


def update(call: Call) -> Entry:
    """Put what the body says in place of an object."""
    check_options(call, "UpdateOptions")
    supplied = None if call.request.content is None else call.store.get(call.key(), cached=True)
    content = read_object(call, None if supplied is None else supplied.content)
    check_name(call, content)
    set_namespace(call, content)
    entry = call.store.get(call.key())
    if entry is None:
        raise not_found(call.named, call.name)
    return write(call, entry, content)


def check_name(call: Call, content: Object) -> None:
    """Refuse an object of another name; raises `Failure`."""
    name = metadata_of(content).get("name", "")
    if not name:
        raise bad_request(
            f"the name of the object ({call.name} based on URL) was undeterminable:"
            " name must be provided"
        )
    if name != call.name:
        raise bad_request(
            f"the name of the object ({name}) does not match the name on the URL ({call.name})"
        )


def write(
    call: Call,
    entry: Entry,
    content: Object,
    *,
    tracked: bool = False,
    version_checked: bool = True,
) -> Entry:
    """Put an object in place of another, by all rules; raises `Failure`."""
    before = seen_as(entry, call.resource)
    live = before.content
    metadata = content["metadata"]
    uid = metadata.get("uid")
    if uid and uid != metadata_of(live).get("uid") and version_checked:
        raise _other_uid(call, entry, uid)
    version = metadata.get("resourceVersion", "")
    draft = call.draft(content, before)
    if not version and needs_version(draft) and version_checked:
        cause = wrong("metadata.resourceVersion", 0, "must be specified for an update")
        plain = Named(call.resource.plural, call.resource.group, call.resource.plural)
        raise invalid(plain, call.name, [cause])
    if version and not (version.isascii() and version.isdigit()):
        raise Failure(500, "", f'strconv.ParseUint: parsing "{version}": invalid syntax')
    if version and version not in {str(entry.revision), "0"}:
        raise conflict(call.named, call.name)
    metadata["resourceVersion"] = str(entry.revision)
    for name in ("uid", "creationTimestamp"):
        if not metadata.get(name) and metadata_of(live).get(name):
            metadata[name] = metadata_of(live)[name]
    for name in ("deletionTimestamp", "deletionGracePeriodSeconds"):
        if metadata_of(live).get(name) is not None:
            metadata.setdefault(name, metadata_of(live)[name])
    if not tracked:
        draft.content = content = track_update(live, content, writing(call, content))
    prepare_update(draft)
    causes = validate_update(draft)
    if causes:
        raise invalid(call.named, call.name, causes)
    admit_update(draft)
    return store(call, entry, finished(call, draft.content, live))


def store(call: Call, entry: Entry, content: Object) -> Entry:
    """Write an object, unless nothing changed; one whose last finalizer goes is gone."""
    content = keep_times(entry, content)
    metadata = metadata_of(content)
    ends = metadata.get("deletionTimestamp") and not metadata.get("finalizers")
    graced = metadata.get("deletionGracePeriodSeconds")
    is_held = bool((content.get("spec") or {}).get("finalizers")) and (
        call.resource.plural == "namespaces"
    )
    if ends and not graced and not is_held and call.route.subresource != "status":
        if not call.is_dry:
            call.store.delete(entry)
        return Entry(entry.key, entry.revision, entry.created, laid_out(entry.key, content))
    laid = laid_out(entry.key, content)
    if laid == entry.content:
        return seen_as(entry, call.resource)
    if call.is_dry:
        return Entry(entry.key, entry.revision, entry.created, laid_out(entry.key, content))
    try:
        return seen_as(call.store.update(entry, content, laid), call.resource)
    except Changed:
        raise conflict(call.named, call.name) from None


def keep_times(entry: Entry, content: Object) -> Object:
    """Managers who changed nothing did not come back: times alone are no change."""
    old, new = metadata_of(entry.content), metadata_of(content)
    before, after = old.get("managedFields") or [], new.get("managedFields") or []
    if before == after or len(before) != len(after):
        return content
    if any(_timeless(one) != _timeless(other) for one, other in zip(before, after, strict=True)):
        return content
    rest = {**content, "metadata": {**new, "managedFields": before}}
    return rest if rest == entry.content else content


def _timeless(entry: Object) -> Object:
    return {name: one for name, one in entry.items() if name != "time"}


def _other_uid(call: Call, entry: Entry, uid: str) -> Exception:
    result = metadata_of(entry.content).get("uid", "")
    why = (
        f"StorageError: invalid object, Code: 4, Key: {entry.key.decode()}, ResourceVersion: 0,"
        f" AdditionalErrorMsg: Precondition failed: UID in precondition: {uid}, UID in object"
        f" meta: {result}"
    )
    return conflict(call.named, call.name, why)


def changed(call: Call, change: Callable[[Object], Object]) -> Entry:
    """Let a function change an object that is there; raises `Failure`."""
    entry = call.store.get(call.key())
    if entry is None:
        raise not_found(call.named, call.name)
    return store(call, entry, finished(call, change(copied(entry.content))))
