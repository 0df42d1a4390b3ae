"""Bodies of requests: read, checked against their type, and filled with defaults."""

from __future__ import annotations

import base64
import json
from typing import cast

from stockman.lab.kube.admission.draft import wrong
from stockman.lab.kube.admission.strategies import TEMPLATE_GENERATION
from stockman.lab.kube.api.call import Call
from stockman.lab.kube.api.negotiating import PROTOBUF, YAML, body_type
from stockman.lab.kube.failures import Failure, Named, bad_request, invalid
from stockman.lab.kube.objects import Object, Tree, metadata_of
from stockman.lab.kube.schema.decoding import decoding_error
from stockman.lab.kube.schema.defaulting import fill_defaults
from stockman.lab.kube.schema.pruning import prune
from stockman.lab.kube.schema.reading import Unreadable, read_json
from stockman.lab.kube.schema.resource import Resource
from stockman.lab.kube.schema.rewriting import rewritten
from stockman.lab.kube.schema.tables import builtin
from stockman.lab.kube.schema.type import Type
from stockman.lab.kube.schema.unknown import complaints, strict_decoding_error

MOST_BYTES = 3 * (1 << 20)
_SCHEME = 'scheme "pkg/runtime/scheme.go:111"'
_STRUCT = (
    "json: cannot unmarshal {} into Go value of type struct {{ APIVersion string"
    ' "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }}'
)
_SAID = {list: "array", str: "string", bool: "bool", int: "number", float: "number"}


def read_body(body: bytes, content_type: str, kind: str) -> Tree:
    """What a body says, whatever it is; raises `Failure`."""
    media = body_type(content_type)
    need_size(body)
    if media == YAML:
        return _from_yaml(body)
    if media == PROTOBUF:
        return _from_protobuf(body, kind)
    try:
        found = read_json(body)
    except Unreadable as why:
        shown = body.hex() if body else "<empty>"
        raise _unrecognized(kind, f"json parse error: {why} ({shown})") from None
    if not isinstance(found, dict):
        said = _STRUCT.format(_SAID.get(type(found), "null"))
        raise _unrecognized(kind, f"json parse error: {said} ({body.hex()})")
    return found


def need_size(body: bytes) -> None:
    """Refuse what is too large."""
    if len(body) > MOST_BYTES:
        text = f"Request entity too large: limit is {MOST_BYTES}"
        raise Failure(413, "RequestEntityTooLarge", text)


def _unrecognized(kind: str, why: str) -> Failure:
    text = f"the object provided is unrecognized (must be of type {kind}): couldn't get"
    return bad_request(f"{text} version/kind; {why}")


def _from_protobuf(body: bytes, kind: str) -> Tree:
    from stockman.lab.kube.protobuf.reading import BadProtobuf, read_protobuf

    try:
        return read_protobuf(body)
    except BadProtobuf as why:
        text = f"the object provided is unrecognized (must be of type {kind}): {why}"
        raise bad_request(text) from None


def _from_yaml(body: bytes) -> Tree:
    from stockman.lab.kube.api.yaml_bodies import BadYaml, read_yaml

    try:
        return read_yaml(body)
    except BadYaml as why:
        raise bad_request(f"error converting YAML to JSON: yaml: {why}") from None


def read_object(call: Call) -> Object:
    """The object of a body, as its type says, with defaults; raises `Failure`."""
    request = call.request
    kind = call.resource.kind
    found = read_body(request.body, request.headers.get("content-type", ""), kind)
    if not isinstance(found, dict):
        raise bad_request(f"the object provided is unrecognized (must be of type {kind})")
    check_kind(call, found)
    return typed(call, found)


def check_kind(call: Call, found: Object) -> None:
    """Refuse an object of another kind; fill in what it is where it does not say."""
    resource = call.resource
    version = found.get("apiVersion") or resource.api_version
    kind = found.get("kind") or resource.kind
    if (version, kind) != (resource.api_version, resource.kind):
        raise _other_kind(call, found, str(version), str(kind))
    found["apiVersion"], found["kind"] = version, kind


def _name(found: Object) -> str:
    return str(metadata_of(found).get("name", ""))


def _other_kind(call: Call, found: Object, version: str, kind: str) -> Failure:
    resource = call.resource
    group, _, bare = version.rpartition("/")
    if resource.is_custom:
        if kind != resource.kind:
            cause = wrong("kind", kind, f"must be {resource.kind}")
            return invalid(Named("", group, kind), _name(found), [cause])
        return bad_request(
            f"the API version in the data ({version}) does not match the expected API version"
            f" ({resource.api_version})"
        )
    known = call.types.resource_of_kind(group, bare, kind)
    head = f'{kind} in version "{bare}" cannot be handled as a {resource.kind}'
    if known is None:
        return bad_request(
            f'{head}: no kind "{kind}" is registered for version "{version}" in {_SCHEME}'
        )
    if known.kind == resource.kind:
        return bad_request(
            f"the API version in the data ({version}) does not match the expected API version"
            f" ({resource.api_version})"
        )
    package = "core" if not resource.group else resource.group.partition(".")[0]
    return bad_request(
        f"{head}: converting ({bare}.{kind}) to ({package}.{resource.kind}): unknown conversion"
    )


def typed(call: Call, found: Object, *, validates: bool = True) -> Object:
    """An object as its type says, with defaults."""
    shape, resource = call.shape, call.resource
    head = f'{resource.kind} in version "{resource.version}" cannot be handled as a {resource.kind}'
    if validates:
        wrong = "" if resource.is_custom else decoding_error(shape, found)
        if wrong:
            raise bad_request(f"{head}: {wrong}")
        complain(call, shape, found, head)
    return shaped(resource, shape, found)


def complain(call: Call, shape: Type, found: Object, head: str) -> None:
    """Say what is unknown, in the way that was asked for."""
    way = call.request.asked("fieldValidation") or "Warn"
    if way == "Ignore":
        return
    texts = complaints(shape, found)
    if texts and way == "Strict":
        error = strict_decoding_error(texts)
        raise bad_request(f"{head}: {error}")
    call.warnings.extend(texts)


def shaped(resource: Resource, shape: Type, found: Object) -> Object:
    """An object with its defaults, as the server writes it back."""
    if resource.is_custom:
        made = cast(Object, json.loads(json.dumps(found)))
        prune(shape, made)
        fill_defaults(shape, made)
        return _own_metadata(made)
    made = cast(Object, json.loads(json.dumps(found)))
    fill_defaults(shape, made)
    _take_texts(made)
    _give_template_generation(made)
    return cast(Object, rewritten(shape, made))


def _own_metadata(made: Object) -> Object:
    metadata = made.get("metadata")
    if isinstance(metadata, dict):
        made["metadata"] = rewritten(builtin("meta.v1.ObjectMeta"), metadata)
    else:
        made["metadata"] = {}
    return made


def _give_template_generation(made: Object) -> None:
    if made.get("kind") == "DaemonSet" and isinstance(made.get("metadata"), dict):
        annotations = made["metadata"].get("annotations")
        annotations = made["metadata"]["annotations"] = dict(annotations or {})
        annotations.setdefault(TEMPLATE_GENERATION, "0")


def _take_texts(made: Object) -> None:
    """Secrets may be given as plain texts."""
    if made.get("kind") != "Secret" or made.get("apiVersion") != "v1":
        return
    given = made.pop("stringData", None)
    if isinstance(given, dict) and given:
        texts = {name: base64.b64encode(one.encode()).decode() for name, one in given.items()}
        made["data"] = {**(made.get("data") or {}), **texts}
