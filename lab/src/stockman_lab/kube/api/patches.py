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
    patch_result = patched(call.request.body, media, live, call.shape)
    patch_result = _read_patch_result(call, patch_result, live)
    check_name(call, patch_result)
    set_namespace(call, patch_result)
    return write(call, entry, patch_result, version_checked=False)


def patched(body: bytes, media: str, live: Object, shape: Type) -> Object:
    """What an object becomes by a patch; raises `Failure`."""
    if media == _JSON_PATCH:
        return _json_patch(body, live)
    result = _read(body)
    if not isinstance(result, dict):
        raise bad_request("error decoding patch: the patch is not an object")
    if media == _MERGE:
        return merge_patched(live, result)
    try:
        return strategically_patched(live, result, shape)
    except BadPatch as why:
        raise Failure(500, "", str(why)) from None


def _read(body: bytes) -> Json:
    try:
        return read_json(body)
    except (Unreadable, TooDeep) as error:
        raise bad_request(f"error decoding patch: {error}") from None


def _json_patch(body: bytes, live: Object) -> Object:
    operations = _read(body)
    if not isinstance(operations, list) or not all(isinstance(item, dict) for item in operations):
        raise bad_request("error decoding patch: the patch is not a list of operations")
    try:
        return json_patched(live, cast(list[Object], operations))
    except Unpatched:
        text = "the server rejected our request due to an error in our request"
        raise Failure(422, "Invalid", text, About()) from None


def _read_patch_result(call: Call, content: Object, live: Object) -> Object:
    """An object that a patch made of a live one, as its type says; raises `Failure`."""
    resource = call.resource
    content = {"kind": resource.kind, "apiVersion": resource.api_version, **content}
    if resource.is_custom:
        _check_custom_kind(call, content)
    elif (content["apiVersion"], content["kind"]) != (resource.api_version, resource.kind):
        text = f'no kind "{content["kind"]}" is registered for version "{content["apiVersion"]}"'
        raise _unfit(content, text)
    rest, managed = without_managers(content, live)
    why = metadata_error(rest) if resource.is_custom else decoding_error(call.shape, rest)
    if why:
        raise _unfit(content, why)
    _complain(call, rest, content)
    typed = shaped(resource, call.shape, rest)
    if managed:
        typed["metadata"]["managedFields"] = managed
    return typed


def _check_custom_kind(call: Call, content: Object) -> None:
    resource = call.resource
    version, kind = str(content["apiVersion"]), str(content["kind"])
    causes = []
    if version != resource.api_version:
        causes.append(wrong("apiVersion", content["apiVersion"], f"must be {resource.api_version}"))
    if kind != resource.kind:
        causes.append(wrong("kind", content["kind"], f"must be {resource.kind}"))
    if causes:
        raise invalid(Named("", version.rpartition("/")[0], kind), call.name, causes)


def _complain(call: Call, content: Object, result: Object) -> None:
    """Say what is unknown of what was found in an object that a patch made."""
    try:
        complain(call, call.shape, content, "")
    except Failure as failure:
        raise _unfit(result, failure.message.removeprefix(": ")) from None


def _unfit(content: Object, why: str) -> Failure:
    text = json.dumps(dict(sorted(content.items())), separators=(",", ":"))
    return invalid(Named("", "", ""), "", [wrong("patch", text, why)])


def _apply(call: Call) -> tuple[Entry, bool]:
    """Apply what the body says; what left an object as it is before does so again."""
    key, same = call.key(), _identity(call)
    known = None if call.route.subresource else call.store.readable_one(key)
    if known is None:
        return _apply_object(call)
    warned = known.unchanged_by.get(same)
    if warned is not None and call.store.get(key) is known:
        call.warnings.extend(warned)
        return known, False
    before = len(call.warnings)
    result, is_new = _apply_object(call)
    if result is known:
        known.unchanged_by[same] = tuple(call.warnings[before:])
    return result, is_new


def _identity(call: Call) -> Hashable:
    """All of a request to apply that what comes of it depends on, beside the object."""
    request = call.request
    query = tuple((name, tuple(values)) for name, values in request.query.items())
    user = request.user
    who = (user.name, user.groups, user.uid)
    return request.body, query, who, call.resource.api_version, call.shape


def _apply_object(call: Call) -> tuple[Entry, bool]:
    desired = _read_apply_body(call)
    resource = call.resource
    kind = (desired.get("apiVersion", ""), desired.get("kind", ""))
    if kind != (resource.api_version, resource.kind):
        group, _, version = str(kind[0]).rpartition("/")
        raise bad_request(f"invalid object type: {group}/{version}, Kind={kind[1]}")
    _check_applied_name(call, desired)
    if metadata_of(desired).get("managedFields") is None:
        _check_types(call, desired)
    entry = call.store.get(call.key())
    live = None if entry is None else seen_as(entry, resource).content
    force = call.request.is_asked("force")
    try:
        result = apply(live, desired, writing(call, desired), force=force)
    except Unlike as why:
        raise Failure(
            500, "", f"failed to create typed patch object ({_told(desired)}): {why}"
        ) from None
    if not resource.is_custom:
        _check_values(call.shape, desired, result)
    managed = metadata_of(result).pop("managedFields", None)
    result = finish_reading(resource, call.shape, result)
    result["metadata"].setdefault("name", call.name)
    set_namespace(call, result)
    if managed:
        result["metadata"]["managedFields"] = managed
    if entry is None:
        return create_object(call, result), True
    return write(call, entry, result, tracked=True, version_checked=False), False


def _read_apply_body(call: Call) -> Object:
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


def _check_applied_name(call: Call, content: Object) -> None:
    metadata = content.setdefault("metadata", {})
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


def _check_types(call: Call, content: Object) -> None:
    errors = unlike(content, call.shape)
    if errors:
        error = errors[0] if len(errors) == 1 else "errors:\n  " + "\n  ".join(errors)
        text = f"failed to create typed patch object ({_told(content)}): {error}"
        raise Failure(500, "", text)


def _check_values(shape: Type, content: Object, result: Object) -> None:
    """Refuse texts that stand for something else, as bytes do, and are no such thing."""
    why = decoding_error(shape, result)
    if why:
        text = f"failed to convert new object ({_told(content)}) to proper version: {why}"
        raise Failure(500, "", text)


def _told(content: Object) -> str:
    metadata = metadata_of(content)
    group, _, version = str(content.get("apiVersion", "")).rpartition("/")
    key = f"{metadata.get('namespace', '')}/{metadata.get('name', '')}"
    return f"{key}; {group}/{version}, Kind={content.get('kind', '')}"
