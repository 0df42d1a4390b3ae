"""Requests that patch objects, in all four ways."""

from __future__ import annotations

import json
from collections.abc import Hashable
from typing import cast

from stockman_lab.kube.admission.draft import wrong
from stockman_lab.kube.api.call import Call
from stockman_lab.kube.api.creating import create_object, set_namespace, writing
from stockman_lab.kube.api.decoding import (
    complain,
    custom_error,
    finish_reading,
    need_size,
    shaped,
    without_managers,
)
from stockman_lab.kube.api.options import check_options
from stockman_lab.kube.api.updating import check_name, write
from stockman_lab.kube.api.versions import seen_as
from stockman_lab.kube.failures import About, Failure, Named, bad_request, invalid, not_found
from stockman_lab.kube.objects import Object, Tree, copied, metadata_of
from stockman_lab.kube.patching.apply import apply
from stockman_lab.kube.patching.checking import unlike
from stockman_lab.kube.patching.json_patch import MOST_OPERATIONS, Unpatched, json_patched
from stockman_lab.kube.patching.merge_patch import merge_patched
from stockman_lab.kube.patching.shapes import Unlike
from stockman_lab.kube.patching.strategic import BadPatch, strategically_patched
from stockman_lab.kube.patching.written_in_go import written_in_go
from stockman_lab.kube.schema.conversion import conversion_error
from stockman_lab.kube.schema.decoding import decoding_error
from stockman_lab.kube.schema.reading import TooDeep, Unreadable, read_json
from stockman_lab.kube.schema.type import Json, Type
from stockman_lab.kube.store.entries import Entry

_JSON_PATCH = "application/json-patch+json"
_MERGE = "application/merge-patch+json"
_STRATEGIC = "application/strategic-merge-patch+json"
PATCHES = frozenset({_JSON_PATCH, _MERGE, _STRATEGIC})
_APPLY = frozenset({"application/apply-patch+yaml", "application/apply-patch+json"})
_SAID = {list: "array", str: "string", bool: "bool", int: "number", float: "number", dict: "object"}
_MAP = "map[string]interface {}"


def patch(call: Call) -> tuple[Entry, bool]:
    """Change an object as the body says; returns it, and whether it is new."""
    media = call.request.headers.get("content-type", "").partition(";")[0].strip()
    known = {_JSON_PATCH, _MERGE, *_APPLY}
    if not call.resource.is_custom:
        known.add(_STRATEGIC)
    if media not in known:
        raise _unknown_type(call, known)
    need_size(call.request.body)
    check_options(call, "PatchOptions", is_apply=media in _APPLY)
    if media in _APPLY:
        return _apply(call)
    return _patch(call, media), False


def _unknown_type(call: Call, known: set[str]) -> Failure:
    if call.resource.is_custom:
        names = ", ".join(sorted(known - {"application/apply-patch+json"}, key=_ORDER.index))
        text = (
            "the body of the request was in an unknown format - accepted media types include:"
            f" {names}"
        )
        return Failure(415, "UnsupportedMediaType", text)
    return Failure(415, "UnsupportedMediaType", "415: Unsupported Media Type", About())


_ORDER = [_JSON_PATCH, _MERGE, _STRATEGIC, "application/apply-patch+yaml"]


def _patch(call: Call, media: str) -> Entry:
    entry = call.store.get(call.key())
    if entry is None:
        raise not_found(call.named, call.name)
    live = seen_as(entry, call.resource).content
    made = patched(call.request.body, media, live, call.shape)
    if media == _STRATEGIC and not call.resource.is_custom:
        _check_kinds(call, made)
    made = _typed(call, made, live)
    check_name(call, made)
    set_namespace(call, made)
    return write(call, entry, made, version_checked=False)


def patched(body: bytes, media: str, live: Object, shape: Type) -> Object:
    """What an object becomes by a patch; raises `Failure`."""
    if media == _JSON_PATCH:
        return _json_patched(body, live)
    head = "" if media == _STRATEGIC else "error decoding patch: "
    found = _read(body, head)
    if found is None:
        if media == _MERGE:
            raise bad_request("Invalid JSON Patch")
        return live
    if not isinstance(found, dict):
        said = (
            f"json: cannot unmarshal {_SAID.get(type(found), 'null')} into Go value of type {_MAP}"
        )
        raise bad_request(f"{head}{said}")
    if media == _MERGE:
        return merge_patched(live, found)
    try:
        return strategically_patched(live, found, shape)
    except BadPatch as why:
        raise Failure(500, "", str(why)) from None


def _check_kinds(call: Call, made: Object) -> None:
    """A strategic patch is not written as JSON again: its values are converted as they are."""
    why = conversion_error(call.shape, made)
    if why:
        shown = written_in_go(_read(call.request.body, ""))
        raise invalid(Named("", "", ""), "", [wrong("patch", shown, why)])


def _read(body: bytes, head: str) -> Json:
    try:
        return read_json(body)
    except Unreadable as why:
        raise bad_request(f"{head}{why}") from None
    except TooDeep as why:
        raise bad_request(str(why)) from None


def _json_patched(body: bytes, live: Object) -> Object:
    found = _read(body, "error decoding patch: ")
    if found is None:
        return live
    if not isinstance(found, list):
        said = f"json: cannot unmarshal {_SAID.get(type(found), 'null')}"
        raise bad_request(
            f"error decoding patch: {said} into Go value of type []handlers.jsonPatchOp"
        )
    _check_operations(found)
    if len(found) > MOST_OPERATIONS:
        most = f"The allowed maximum operations in a JSON patch is {MOST_OPERATIONS}"
        text = f"Request entity too large: {most}, got {len(found)}"
        raise Failure(413, "RequestEntityTooLarge", text)
    try:
        return json_patched(live, cast(list[Object | None], found))
    except Unpatched:
        text = "the server rejected our request due to an error in our request"
        raise Failure(422, "Invalid", text, About()) from None


def _check_operations(found: list[Json]) -> None:
    """Refuse operations that are not made as such; one that is null is left for later."""
    for one in found:
        if one is not None and not isinstance(one, dict):
            said = f"json: cannot unmarshal {_SAID[type(one)]} into Go value of type"
            raise bad_request(f"error decoding patch: {said} handlers.jsonPatchOp")
        for name in ("op", "path", "from"):
            value = None if one is None else one.get(name)
            if value is not None and not isinstance(value, str):
                said = f"json: cannot unmarshal {_SAID[type(value)]} into Go struct field"
                text = f"{said} jsonPatchOp.{name} of type string"
                raise bad_request(f"error decoding patch: {text}")


def _typed(call: Call, made: Object, live: Object) -> Object:
    """An object that a patch made of a live one, as its type says; raises `Failure`."""
    resource = call.resource
    made = {"kind": resource.kind, "apiVersion": resource.api_version, **made}
    if resource.is_custom:
        _check_custom_kind(call, made)
    elif (made["apiVersion"], made["kind"]) != (resource.api_version, resource.kind):
        why = (
            f'no kind "{made.get("kind")}" is registered for version "{made.get("apiVersion")}"'
            ' in scheme "pkg/runtime/scheme.go:111"'
        )
        raise _unfit(made, why)
    rest, managed = without_managers(made, live)
    why = custom_error(rest) if resource.is_custom else decoding_error(call.shape, rest)
    if why:
        raise _unfit(made, why)
    _complain(call, rest, made)
    typed = shaped(resource, call.shape, rest)
    if managed:
        typed["metadata"]["managedFields"] = managed
    return typed


def _check_custom_kind(call: Call, made: Object) -> None:
    resource = call.resource
    version, kind = str(made["apiVersion"]), str(made["kind"])
    causes = []
    if version != resource.api_version:
        causes.append(wrong("apiVersion", made["apiVersion"], f"must be {resource.api_version}"))
    if kind != resource.kind:
        causes.append(wrong("kind", made["kind"], f"must be {resource.kind}"))
    if causes:
        raise invalid(Named("", version.rpartition("/")[0], kind), call.name, causes)


def _complain(call: Call, found: Object, made: Object) -> None:
    """Say what is unknown of what was found in an object that a patch made."""
    try:
        complain(call, call.shape, found, "")
    except Failure as failure:
        text = failure.message.removeprefix(": ")
        causes = [wrong("patch", _shown(made), text)]
        raise invalid(Named("", "", ""), "", causes) from None


def _unfit(made: Object, why: str) -> Failure:
    return invalid(Named("", "", ""), "", [wrong("patch", _shown(made), why)])


def _shown(made: Object) -> str:
    names = sorted(made)
    return json.dumps({name: made[name] for name in names}, separators=(",", ":"))


def _apply(call: Call) -> tuple[Entry, bool]:
    """Apply what the body says; what left an object as it is before does so again."""
    key, same = call.key(), _identity(call)
    known = None if call.route.subresource else call.store.readable_one(key)
    if known is None:
        return _newly_applied(call)
    warned = known.unchanged_by.get(same)
    if warned is not None and call.store.get(key) is known:
        call.warnings.extend(warned)
        return known, False
    before = len(call.warnings)
    made, is_new = _newly_applied(call)
    if made is known:
        known.unchanged_by[same] = tuple(call.warnings[before:])
    return made, is_new


def _identity(call: Call) -> Hashable:
    """All of a request to apply that what comes of it depends on, beside the object."""
    request = call.request
    query = tuple((name, tuple(values)) for name, values in request.query.items())
    user = request.user
    who = (user.name, user.groups, user.uid)
    return request.body, query, who, call.resource.api_version, call.shape


def _newly_applied(call: Call) -> tuple[Entry, bool]:
    wanted = _applied_object(call)
    resource = call.resource
    kind = (wanted.get("apiVersion", ""), wanted.get("kind", ""))
    if kind != (resource.api_version, resource.kind):
        group, _, version = str(kind[0]).rpartition("/")
        raise bad_request(f"invalid object type: {group}/{version}, Kind={kind[1]}")
    _check_applied_name(call, wanted)
    if metadata_of(wanted).get("managedFields") is None:
        _check_typed(call, wanted)
    entry = call.store.get(call.key())
    live = None if entry is None else seen_as(entry, resource).content
    if entry is None and metadata_of(wanted).get("uid"):
        uid = metadata_of(wanted)["uid"]
        why = (
            f"uid mismatch: the provided object specified uid {uid}, and no existing object was"
            " found"
        )
        raise Failure(
            409,
            "Conflict",
            f'Operation cannot be fulfilled on {call.named.resource} "{call.name}": {why}',
            About(call.name, resource.group, resource.plural),
        )
    force = call.request.is_asked("force")
    try:
        made = apply(live, wanted, writing(call, wanted), force=force)
    except Unlike as why:
        raise Failure(
            500, "", f"failed to create typed patch object ({_told(wanted)}): {why}"
        ) from None
    if not resource.is_custom:
        _check_decoded(call.shape, wanted, made)
    managed = metadata_of(made).pop("managedFields", None)
    made = finish_reading(resource, call.shape, made)
    made["metadata"].setdefault("name", call.name)
    set_namespace(call, made)
    if managed:
        made["metadata"]["managedFields"] = managed
    if entry is None:
        return create_object(call, made), True
    return write(call, entry, made, tracked=True, version_checked=False), False


def _applied_object(call: Call) -> Object:
    body = call.request.body
    try:
        tree: Tree = read_json(body)
    except Unreadable:
        tree = _from_yaml(body)
    except TooDeep as why:
        raise bad_request(str(why)) from None
    if tree is None:
        tree = {}
    if not isinstance(tree, dict):
        said = _SAID.get(type(tree), "null")
        raise bad_request(
            f"error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot"
            f" unmarshal {said} into Go value of type {_MAP}"
        )
    return copied(tree)


def _from_yaml(body: bytes) -> Tree:
    from stockman_lab.kube.api.yaml_bodies import BadYaml, read_yaml

    try:
        return read_yaml(body)
    except BadYaml as why:
        raise bad_request(f"error decoding YAML: error converting YAML to JSON: {why}") from None


def _check_applied_name(call: Call, wanted: Object) -> None:
    metadata = wanted.setdefault("metadata", {})
    if not isinstance(metadata, dict):
        why = f".metadata: expected map, got &{{{written_in_go(metadata)}}}"
        raise Failure(500, "", f"failed to create typed patch object ({_told(wanted)}): {why}")
    name = metadata.get("name")
    if name and name != call.name:
        raise bad_request(
            f"the name of the object ({name}) does not match the name on the URL ({call.name})"
        )
    if call.resource.namespaced and metadata.get("namespace") not in (None, "", call.namespace):
        raise bad_request(
            "the namespace of the provided object does not match the namespace sent on the request"
        )


def _check_typed(call: Call, wanted: Object) -> None:
    errors = unlike(wanted, call.shape)
    if errors:
        error = errors[0] if len(errors) == 1 else "errors:\n  " + "\n  ".join(errors)
        text = f"failed to create typed patch object ({_told(wanted)}): {error}"
        raise Failure(500, "", text)


def _check_decoded(shape: Type, wanted: Object, made: Object) -> None:
    """Refuse texts that stand for something else, as bytes do, and are no such thing."""
    why = decoding_error(shape, made)
    if why:
        kind = _told(wanted).partition("; ")[2]
        head = "error decoding from json: " if why.startswith("illegal base64") else ""
        raise Failure(
            500,
            "",
            f"failed to convert new object ({_told(wanted)}) to proper version: unable to convert"
            f" unstructured object to {kind}: {head}{why}",
        )


def _told(wanted: Object) -> str:
    metadata = metadata_of(wanted)
    group, _, version = str(wanted.get("apiVersion", "")).rpartition("/")
    place = f"{metadata.get('namespace', '')}/{metadata.get('name', '')}"
    return f"{place}; {group}/{version}, Kind={wanted.get('kind', '')}"
