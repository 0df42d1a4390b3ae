"""Requests that patch objects, in all four ways."""

from __future__ import annotations

import json
from collections.abc import Hashable
from typing import cast

from stockman_lab.kube.admission.draft import wrong
from stockman_lab.kube.api.call import Call, seen_as
from stockman_lab.kube.api.creating import create_object, set_namespace, writing
from stockman_lab.kube.api.decoding import (
    complain,
    finish_reading,
    need_size,
    shaped,
    without_managers,
)
from stockman_lab.kube.api.options import check_options
from stockman_lab.kube.api.updating import check_name, write
from stockman_lab.kube.failures import About, Failure, Named, bad_request, invalid, not_found
from stockman_lab.kube.objects import Object, Tree, copied, metadata_of
from stockman_lab.kube.patching.apply import apply
from stockman_lab.kube.patching.json_patch import Unpatched, json_patched, merge_patched
from stockman_lab.kube.patching.shapes import Unlike
from stockman_lab.kube.patching.strategic import BadPatch, strategically_patched
from stockman_lab.kube.patching.typed import unlike
from stockman_lab.kube.schema.decoding import decoding_error
from stockman_lab.kube.schema.reading import TooDeep, Unreadable, read_json
from stockman_lab.kube.schema.type import Json, Type
from stockman_lab.kube.schema.validating import metadata_error
from stockman_lab.kube.store.entries import Entry

_JSON_PATCH = "application/json-patch+json"
_MERGE = "application/merge-patch+json"
_STRATEGIC = "application/strategic-merge-patch+json"
PATCHES = frozenset({_JSON_PATCH, _MERGE, _STRATEGIC})
_APPLY = frozenset({"application/apply-patch+yaml", "application/apply-patch+json"})


def patch(call: Call) -> tuple[Entry, bool]:
    """Change an object as the body says; returns it, and whether it is new."""
    media = call.request.headers.get("content-type", "").partition(";")[0].strip()
    known = {_JSON_PATCH, _MERGE, *_APPLY}
    if not call.resource.is_custom:
        known.add(_STRATEGIC)
    if media not in known:
        raise _unknown_type(known)
    need_size(call.request.body)
    check_options(call, "PatchOptions", is_apply=media in _APPLY)
    if media in _APPLY:
        return _apply(call)
    return _patch(call, media), False


def _unknown_type(known: set[str]) -> Failure:
    text = (
        "the body of the request was in an unknown format - accepted media types include:"
        f" {', '.join(sorted(known - {'application/apply-patch+json'}))}"
    )
    return Failure(415, "UnsupportedMediaType", text)


def _patch(call: Call, media: str) -> Entry:
    entry = call.store.get(call.key())
    if entry is None:
        raise not_found(call.named, call.name)
    live = seen_as(entry, call.resource).content
    made = patched(call.request.body, media, live, call.shape)
    made = _typed(call, made, live)
    check_name(call, made)
    set_namespace(call, made)
    return write(call, entry, made, version_checked=False)


def patched(body: bytes, media: str, live: Object, shape: Type) -> Object:
    """What an object becomes by a patch; raises `Failure`."""
    if media == _JSON_PATCH:
        return _json_patched(body, live)
    found = _read(body)
    if not isinstance(found, dict):
        raise bad_request("error decoding patch: the patch is not an object")
    if media == _MERGE:
        return merge_patched(live, found)
    try:
        return strategically_patched(live, found, shape)
    except BadPatch as why:
        raise Failure(500, "", str(why)) from None


def _read(body: bytes) -> Json:
    try:
        return read_json(body)
    except (Unreadable, TooDeep) as error:
        raise bad_request(f"error decoding patch: {error}") from None


def _json_patched(body: bytes, live: Object) -> Object:
    operations = _read(body)
    if not isinstance(operations, list) or not all(isinstance(item, dict) for item in operations):
        raise bad_request("error decoding patch: the patch is not a list of operations")
    try:
        return json_patched(live, cast(list[Object], operations))
    except Unpatched:
        text = "the server rejected our request due to an error in our request"
        raise Failure(422, "Invalid", text, About()) from None


def _typed(call: Call, made: Object, live: Object) -> Object:
    """An object that a patch made of a live one, as its type says; raises `Failure`."""
    resource = call.resource
    made = {"kind": resource.kind, "apiVersion": resource.api_version, **made}
    if resource.is_custom:
        _check_custom_kind(call, made)
    elif (made["apiVersion"], made["kind"]) != (resource.api_version, resource.kind):
        text = f'no kind "{made["kind"]}" is registered for version "{made["apiVersion"]}"'
        raise _unfit(made, text)
    rest, managed = without_managers(made, live)
    why = metadata_error(rest) if resource.is_custom else decoding_error(call.shape, rest)
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
        raise _unfit(made, failure.message.removeprefix(": ")) from None


def _unfit(made: Object, why: str) -> Failure:
    text = json.dumps(dict(sorted(made.items())), separators=(",", ":"))
    return invalid(Named("", "", ""), "", [wrong("patch", text, why)])


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
        raise bad_request("error decoding YAML: the document is not an object")
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
        raise bad_request("error decoding YAML: metadata is not an object")
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
        text = f"failed to convert new object ({_told(wanted)}) to proper version: {why}"
        raise Failure(500, "", text)


def _told(wanted: Object) -> str:
    metadata = metadata_of(wanted)
    group, _, version = str(wanted.get("apiVersion", "")).rpartition("/")
    place = f"{metadata.get('namespace', '')}/{metadata.get('name', '')}"
    return f"{place}; {group}/{version}, Kind={wanted.get('kind', '')}"
