"""Deleting objects: at once, after a while, or when nobody holds them any longer."""

from __future__ import annotations

from stockman_lab.kube.admission.plugins import refuse_immortal
from stockman_lab.kube.api.call import Call
from stockman_lab.kube.api.decoding import read_body
from stockman_lab.kube.api.definitions import is_definition, terminate
from stockman_lab.kube.api.listing import Page, list_objects, read_number
from stockman_lab.kube.api.options import check_deletion
from stockman_lab.kube.failures import Failure, Named, bad_request, conflict, not_found
from stockman_lab.kube.objects import Object, copied, in_order, metadata_of, part_of, written_time
from stockman_lab.kube.schema.decoding import decoding_error
from stockman_lab.kube.schema.tables import builtin
from stockman_lab.kube.store.entries import Entry
from stockman_lab.kube.store.store import Changed

_ORPHAN, _FOREGROUND = "orphan", "foregroundDeletion"
_OPTIONS = "DeleteOptions"
_ENDED = frozenset({"Succeeded", "Failed"})


def read_options(call: Call) -> Object:
    """How a deletion is wanted; raises `Failure`."""
    request = call.request
    if request.body:
        options = _read_body(call)
    else:
        options = {
            name: _read(name, request.asked(name))
            for name in ("propagationPolicy", "gracePeriodSeconds")
            if request.asked(name)
        }
        if request.query.get("dryRun"):
            options["dryRun"] = request.query["dryRun"]
    check_deletion(options)
    call.is_dry = bool(options.get("dryRun"))
    return options


def _read_body(call: Call) -> Object:
    """Options in a body, beside which those of the query do not count."""
    request = call.request
    tree = read_body(request.body, request.headers.get("content-type", ""), _OPTIONS)
    why = decoding_error(builtin("meta.v1.DeleteOptions"), tree)
    if why:
        raise bad_request(why)
    return {name: one for name, one in tree.items() if one is not None}


def _read(name: str, text: str) -> object:
    return read_number(text) if name == "gracePeriodSeconds" else text


def delete(call: Call) -> tuple[Entry, bool]:
    """Delete an object; returns it, and whether it is gone."""
    refuse_immortal(call.resource.plural, call.name)
    options = read_options(call)
    if call.resource.plural == "jobs" and "propagationPolicy" not in options:
        options["propagationPolicy"] = "Orphan"
    entry = call.store.get(call.key())
    if entry is None:
        raise not_found(call.named, call.name)
    return delete_entry(call, entry, options)


def delete_entry(call: Call, entry: Entry, options: Object) -> tuple[Entry, bool]:
    """Delete an object that was found; returns it, and whether it is gone."""
    metadata = metadata_of(entry.content)
    name = metadata["name"]
    _check_preconditions(call, entry, options)
    is_dry = call.is_dry
    if is_definition(call) and not is_dry:
        return terminate(call, entry), False
    content = copied(entry.content)
    result = content["metadata"]
    result["finalizers"] = _finalizers(metadata, options)
    grace = _grace(call, entry.content, options)
    already = metadata.get("deletionTimestamp")
    if already and grace:
        left = metadata.get("deletionGracePeriodSeconds") or 0
        if grace >= left:
            return entry, False
    held = bool(result["finalizers"]) or _is_held(call, content)
    if not result["finalizers"]:
        del result["finalizers"]
    graceful = _is_graceful(call)
    if not held and not grace:
        if graceful:
            _mark(call, result, 0)
        if not is_dry:
            try:
                call.store.delete(entry)
            except Changed:
                raise conflict(call.named, name) from None
        return Entry(entry.key, entry.revision, entry.created, in_order(content)), True
    if not already or grace < (metadata.get("deletionGracePeriodSeconds") or 0):
        _mark(call, result, grace)
    if call.resource.plural == "namespaces" and not call.resource.group:
        content.setdefault("status", {})["phase"] = "Terminating"
    if is_dry or content == entry.content:
        return Entry(entry.key, entry.revision, entry.created, in_order(content)), False
    try:
        return call.store.update(entry, content), False
    except Changed:
        raise conflict(call.named, name) from None


def _is_graceful(call: Call) -> bool:
    return (call.resource.group, call.resource.plural) == ("", "pods")


def _mark(call: Call, metadata: Object, grace: int) -> None:
    """Note that an object has been asked to go."""
    if not metadata.get("deletionTimestamp") and metadata.get("generation"):
        metadata["generation"] += 1
    metadata["deletionTimestamp"] = written_time(call.context.now + grace)
    if call.resource.plural != "namespaces" or call.resource.group:
        metadata["deletionGracePeriodSeconds"] = grace


def _is_held(call: Call, content: Object) -> bool:
    is_namespace = call.resource.plural == "namespaces" and not call.resource.group
    return is_namespace and bool(part_of(content, "spec").get("finalizers"))


def _check_preconditions(call: Call, entry: Entry, options: Object) -> None:
    preconditions = options.get("preconditions") or {}
    metadata = metadata_of(entry.content)
    named = Named(call.resource.kind, call.resource.group, call.resource.kind)
    uid, version = preconditions.get("uid"), preconditions.get("resourceVersion")
    if uid and uid != metadata.get("uid"):
        why = (
            f"the UID in the precondition ({uid}) does not match the UID in record"
            f" ({metadata.get('uid')}). The object might have been deleted and then recreated"
        )
        raise conflict(named, metadata["name"], why)
    if version and version != str(entry.revision):
        why = (
            f"the ResourceVersion in the precondition ({version}) does not match the"
            f" ResourceVersion in record ({entry.revision}). The object might have been modified"
        )
        raise conflict(named, metadata["name"], why)


def _finalizers(metadata: Object, options: Object) -> list[str]:
    kept = list(metadata.get("finalizers") or [])
    orphans, foreground = _ORPHAN in kept, _FOREGROUND in kept
    policy = options.get("propagationPolicy")
    if policy is not None:
        orphans, foreground = policy == "Orphan", policy == "Foreground"
    plain = [item for item in kept if item not in {_ORPHAN, _FOREGROUND}]
    if orphans:
        plain.append(_ORPHAN)
    if foreground:
        plain.append(_FOREGROUND)
    return plain if set(plain) != set(kept) else kept


def _grace(call: Call, content: Object, options: Object) -> int:
    """How many seconds an object has left; only pods have any."""
    if (call.resource.group, call.resource.plural) != ("", "pods"):
        return 0
    grace_period_seconds = options.get("gracePeriodSeconds")
    spec = part_of(content, "spec")
    if grace_period_seconds is None:
        grace_period_seconds = spec.get("terminationGracePeriodSeconds", 30)
    if not spec.get("nodeName") or part_of(content, "status").get("phase") in _ENDED:
        return 0
    return max(int(grace_period_seconds), 0) if int(grace_period_seconds) >= 0 else 1


def delete_many(call: Call) -> Page:
    """Delete all objects of a list; returns what it was."""
    options = read_options(call)
    page = list_objects(call)
    for entry in page.entries:
        try:
            delete_entry(call, call.store.get(entry.key) or entry, options)
        except Failure as failure:
            if failure.code != 404:
                raise
    return page
