"""Bodies of requests: read, checked against their type, and filled with defaults."""

from __future__ import annotations

import base64
import json
from typing import cast

from stockman_lab.kube.admission.draft import wrong
from stockman_lab.kube.admission.strategies import TEMPLATE_GENERATION
from stockman_lab.kube.api.call import Call
from stockman_lab.kube.api.negotiating import PROTOBUF, YAML, body_type
from stockman_lab.kube.failures import Failure, Named, bad_request, invalid
from stockman_lab.kube.objects import Object, Tree, copied, metadata_of
from stockman_lab.kube.schema.decoding import complaints, decoding_error, strict_decoding_error
from stockman_lab.kube.schema.defaulting import drop_nulls, fill_defaults, prune
from stockman_lab.kube.schema.reading import TooDeep, Unreadable, read_json
from stockman_lab.kube.schema.resource import Resource
from stockman_lab.kube.schema.rewriting import rewritten
from stockman_lab.kube.schema.tables import builtin
from stockman_lab.kube.schema.type import Json, Type
from stockman_lab.kube.schema.validating import metadata_error

MOST_BYTES = 3 * (1 << 20)


def read_body(body: bytes, content_type: str, kind: str) -> Tree:
    """What a body says, whatever it is; raises `Failure`."""
    media = body_type(content_type)
    need_size(body)
    if media == PROTOBUF:
        return _from_protobuf(body, kind)
    try:
        tree = _from_yaml(body, kind) if media == YAML else read_json(body)
    except (Unreadable, TooDeep) as error:
        raise _format_failure(kind, str(error)) from None
    if tree is None:
        return {}
    if not isinstance(tree, dict) or not all(
        isinstance(tree.get(name), str | None) for name in ("apiVersion", "kind")
    ):
        raise _format_failure(kind, "the body is not an object with apiVersion and kind")
    return tree


def need_size(body: bytes) -> None:
    """Refuse what is too large."""
    if len(body) > MOST_BYTES:
        raise too_large()


def too_large() -> Failure:
    """The refusal of a body that is."""
    text = f"Request entity too large: limit is {MOST_BYTES}"
    return Failure(413, "RequestEntityTooLarge", text)


def _format_failure(kind: str, why: str) -> Failure:
    return bad_request(f"the object provided is unrecognized (must be of type {kind}): {why}")


def _from_protobuf(body: bytes, kind: str) -> Tree:
    from stockman_lab.kube.protobuf.reading import BadProtobuf, read_protobuf

    try:
        return read_protobuf(body)
    except BadProtobuf as why:
        raise _format_failure(kind, str(why)) from None


def _from_yaml(body: bytes, kind: str) -> Json:
    from stockman_lab.kube.api.yaml_bodies import BadYaml, read_yaml

    try:
        yaml: Json = read_yaml(body)
    except BadYaml as why:
        raise _format_failure(kind, str(why)) from None
    return yaml


def read_object(call: Call, live: Object | None = None) -> Object:
    """The object of a body, as its type says, with defaults; raises `Failure`.

    What somebody in this process took from the live object and gives back is not read again.
    """
    request = call.request
    kind = call.resource.kind
    if request.content is not None:
        return _given(call, request.content, live or {})
    tree = read_body(request.body, request.headers.get("content-type", ""), kind)
    if not isinstance(tree, dict):
        raise bad_request(f"the object provided is unrecognized (must be of type {kind})")
    if call.resource.is_custom and not tree.get("kind"):
        raise _format_failure(kind, "Object 'Kind' is missing")
    check_kind(call, tree)
    return typed(call, tree)


def _given(call: Call, content: Object, live: Object) -> Object:
    """An object of somebody in this process: no form of writing can be wrong."""
    spec = live.get("spec")
    is_kept = (
        spec is not None
        and content.get("spec") is spec
        and call.route.subresource == "status"
        and not call.resource.is_custom
        and call.resource.plural != "services"  # their status depends on what is wanted
    )
    rest, managed = without_managers({**content, "spec": {}} if is_kept else content, live)
    result = copied(rest)
    check_kind(call, result)
    wrong = "" if call.resource.is_custom else decoding_error(call.shape, result)
    if wrong:
        raise bad_request(f"{call.resource.kind} cannot be handled: {wrong}")
    made = finish_reading(call.resource, call.shape, result)
    if managed:
        made["metadata"]["managedFields"] = managed
    return {**made, "spec": spec} if is_kept else made


def without_managers(content: Object, live: Object) -> tuple[Object, list[Object]]:
    """An object without its managers, and those, where they are the ones of the live object."""
    managed: list[Object] = metadata_of(live).get("managedFields") or []
    if not managed or metadata_of(content).get("managedFields") is not managed:
        return content, []
    metadata = {name: one for name, one in content["metadata"].items() if name != "managedFields"}
    return {**content, "metadata": metadata}, managed


def check_kind(call: Call, content: Object) -> None:
    """Refuse an object of another kind; fill in what it is where it does not say."""
    resource = call.resource
    version = content.get("apiVersion") or resource.api_version
    kind = content.get("kind") or resource.kind
    if (version, kind) != (resource.api_version, resource.kind):
        raise _other_kind(call, content, str(version), str(kind))
    content["apiVersion"], content["kind"] = version, kind


def _other_kind(call: Call, content: Object, version: str, kind: str) -> Failure:
    resource = call.resource
    if kind != resource.kind and resource.is_custom:
        cause = wrong("kind", kind, f"must be {resource.kind}")
        group = version.rpartition("/")[0]
        return invalid(Named("", group, kind), str(metadata_of(content).get("name", "")), [cause])
    if kind != resource.kind:
        bare = version.rpartition("/")[2]
        return bad_request(
            f'{kind} in version "{bare}" cannot be handled as a {resource.kind}: unknown conversion'
        )
    return bad_request(
        f"the API version in the data ({version}) does not match the expected API version"
        f" ({resource.api_version})"
    )


def typed(call: Call, content: Object, *, validates: bool = True) -> Object:
    """An object as its type says, with defaults."""
    shape, resource = call.shape, call.resource
    head = f'{resource.kind} in version "{resource.version}" cannot be handled as a {resource.kind}'
    if validates:
        wrong = metadata_error(content) if resource.is_custom else decoding_error(shape, content)
        if wrong:
            raise bad_request(f"{head}: {wrong}")
        complain(call, shape, content, head)
    return shaped(resource, shape, content)


def complain(call: Call, shape: Type, content: Object, head: str) -> None:
    """Say what is unknown, in the way that was asked for."""
    way = call.request.asked("fieldValidation") or "Warn"
    if way == "Ignore":
        return
    texts = complaints(shape, content)
    if texts and way == "Strict":
        error = strict_decoding_error(texts)
        raise bad_request(f"{head}: {error}")
    call.warnings.extend(texts)


def shaped(resource: Resource, shape: Type, content: Object) -> Object:
    """An object with its defaults, as the server writes it back."""
    # Custom ones are written and read again, which leaves what was given as it is.
    return finish_reading(resource, shape, content if resource.is_custom else copied(content))


def finish_reading(resource: Resource, shape: Type, content: Object) -> Object:
    """The same of an object that nobody else has."""
    if resource.is_custom:
        content = cast(Object, json.loads(json.dumps(content)))
        prune(shape, content)
        fill_defaults(shape, content)
        return _own_metadata(content)
    drop_nulls(shape, content)
    content.setdefault("metadata", {})
    fill_defaults(shape, content)
    _take_texts(content)
    _give_template_generation(content)
    is_reset = metadata_of(content).get("managedFields") == []
    written = cast(Object, rewritten(shape, content))
    if is_reset:
        written["metadata"]["managedFields"] = [{}]
    return written


def _own_metadata(content: Object) -> Object:
    metadata = content.get("metadata")
    if isinstance(metadata, dict):
        content["metadata"] = rewritten(builtin("meta.v1.ObjectMeta"), metadata)
    else:
        content["metadata"] = {}
    return content


def _give_template_generation(content: Object) -> None:
    if content.get("kind") == "DaemonSet" and isinstance(content.get("metadata"), dict):
        annotations = content["metadata"].get("annotations")
        annotations = content["metadata"]["annotations"] = dict(annotations or {})
        annotations.setdefault(TEMPLATE_GENERATION, "0")


def _take_texts(content: Object) -> None:
    """Secrets may be given as plain texts."""
    if content.get("kind") != "Secret" or content.get("apiVersion") != "v1":
        return
    string_data = content.pop("stringData", None)
    if isinstance(string_data, dict) and string_data:
        texts = {
            name: base64.b64encode((one or "").encode()).decode()
            for name, one in string_data.items()
        }
        content["data"] = {**(content.get("data") or {}), **texts}
