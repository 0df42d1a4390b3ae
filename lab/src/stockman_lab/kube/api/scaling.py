"""The scale of workloads: how many there shall be, and how many there are."""

from __future__ import annotations

from stockman_lab.kube.admission.draft import wrong
from stockman_lab.kube.api.answers import answered
from stockman_lab.kube.api.call import Call
from stockman_lab.kube.api.creating import writing
from stockman_lab.kube.api.decoding import read_body
from stockman_lab.kube.api.listing import get
from stockman_lab.kube.api.messages import Response
from stockman_lab.kube.api.patches import PATCHES, patched
from stockman_lab.kube.api.updating import write
from stockman_lab.kube.failures import (
    About,
    Failure,
    Named,
    bad_request,
    conflict,
    invalid,
    not_found,
)
from stockman_lab.kube.objects import Object, Tree, copied, metadata_of, part_of
from stockman_lab.kube.patching.apply import track_update
from stockman_lab.kube.schema.decoding import decoding_error
from stockman_lab.kube.store.entries import Entry

_OPERATORS = {"In": "in", "NotIn": "notin"}


def scale(call: Call) -> Response:
    """Tell or change the scale of an object; raises `Failure`."""
    if call.route.verb == "get":
        return answered(scale_of(call, get(call)), call.wanted)
    entry = call.store.get(call.key())
    if entry is None:
        raise not_found(call.named, call.name)
    now = scale_of(call, entry)
    wanted = _wanted(call, now)
    unfit = decoding_error(call.types.type_of("autoscaling", "v1", "Scale"), wanted)
    if unfit:
        raise bad_request(f'Scale in version "v1" cannot be handled as a Scale: {unfit}')
    replicas = part_of(wanted, "spec").get("replicas", 0)
    if not isinstance(replicas, int) or replicas < 0:
        cause = wrong("spec.replicas", replicas, "must be greater than or equal to 0")
        raise invalid(Named("", "autoscaling", "Scale"), call.name, [cause])
    version = metadata_of(wanted).get("resourceVersion")
    if version and version != str(entry.revision):
        raise conflict(call.named, call.name)
    content = copied(entry.content)
    _put(content, _path(call, "specReplicasPath", ".spec.replicas"), replicas)
    content = track_update(entry.content, content, writing(call, content))
    _forget_time(call, content)
    made = write(call, entry, content, tracked=True, version_checked=False)
    return answered(scale_of(call, made), call.wanted)


def _forget_time(call: Call, content: Object) -> None:
    """Of those who scale it is not told when they did."""
    for managed_field in metadata_of(content).get("managedFields") or []:
        if managed_field.get("subresource") == "scale":
            managed_field.pop("time", None)


def _wanted(call: Call, now: Object) -> Object:
    request = call.request
    if call.route.verb == "update":
        tree = read_body(request.body, request.headers.get("content-type", ""), "Scale")
        return tree if isinstance(tree, dict) else {}
    media = request.headers.get("content-type", "").partition(";")[0].strip()
    if media not in PATCHES:
        raise Failure(415, "UnsupportedMediaType", "415: Unsupported Media Type", About())
    shape = call.types.type_of("autoscaling", "v1", "Scale")
    return patched(request.body, media, now, shape)


def _declared(call: Call) -> Object:
    subresources = call.resource.declared.get("subresources")
    found = subresources.get("scale") if isinstance(subresources, dict) else None
    return found if isinstance(found, dict) else {}


def _path(call: Call, name: str, default: str) -> list[str]:
    text = str(_declared(call).get(name, default))
    return [one for one in text.split(".") if one]


def _put(content: Object, path: list[str], value: Tree) -> None:
    for name in path[:-1]:
        if not isinstance(content.get(name), dict):
            content[name] = {}
        content = content[name]
    content[path[-1]] = value


def _got(content: Object, path: list[str]) -> Tree:
    tree: Tree = content
    for name in path:
        tree = tree.get(name) if isinstance(tree, dict) else None
    return tree


def scale_of(call: Call, entry: Entry) -> Object:
    """The scale of an object."""
    metadata = metadata_of(entry.content)
    kept = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    content = entry.content
    wanted = _got(content, _path(call, "specReplicasPath", ".spec.replicas"))
    got = _got(content, _path(call, "statusReplicasPath", ".status.replicas"))
    spec: Object = {"replicas": wanted} if wanted else {}
    status: Object = {"replicas": got or 0}
    selector = _selector(call, content)
    if selector:
        status["selector"] = selector
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {name: metadata[name] for name in kept if name in metadata},
        "spec": spec,
        "status": status,
    }


def _selector(call: Call, content: Object) -> str:
    if call.resource.is_custom:
        path = _declared(call).get("labelSelectorPath")
        return str(_got(content, _path(call, "labelSelectorPath", "")) or "") if path else ""
    found = part_of(content, "spec", "selector")
    if call.resource.plural == "replicationcontrollers":
        found = {"matchLabels": found}
    return written_selector(found)


def written_selector(selector: Object) -> str:
    """A selector of an object as queries write it."""
    keys = [
        f"{name}={match_label}" for name, match_label in (selector.get("matchLabels") or {}).items()
    ]
    for match_expression in selector.get("matchExpressions") or []:
        key, operator = match_expression["key"], match_expression["operator"]
        if operator in _OPERATORS:
            values = ",".join(sorted(match_expression.get("values") or []))
            keys.append(f"{key} {_OPERATORS[operator]} ({values})")
        else:
            keys.append(key if operator == "Exists" else f"!{key}")
    return ",".join(sorted(keys))
