"""Answers: objects, lists and refusals in the form in which they are wanted."""

from __future__ import annotations

import gzip
from collections.abc import Iterable

from stockman_lab.kube.api.messages import Response
from stockman_lab.kube.api.negotiating import JSON
from stockman_lab.kube.failures import Failure
from stockman_lab.kube.objects import Object
from stockman_lab.kube.schema.resource import Resource
from stockman_lab.kube.store.entries import Entry, compact_json

_META = "meta.k8s.io"
_COMPRESSED_FROM = 128 * 1024
_NO_CACHE = {"Cache-Control": "no-cache, private"}
_HEADERS = {"Content-Type": JSON, **_NO_CACHE}


def answered(content: Object, status: int = 200) -> Response:
    """Any object."""
    return raw(compact_json(content), status)


def raw(encoded: bytes, status: int = 200) -> Response:
    """An object that is encoded already."""
    return Response(status, dict(_HEADERS), encoded + b"\n")


def of_entry(entry: Entry, status: int = 200) -> Response:
    """An object of the store."""
    return Response(status, dict(_HEADERS), lambda: entry.encoded + b"\n", content=entry.content)


def compressed(response: Response, accepted: str) -> Response:
    """A long answer for somebody who takes it compressed."""
    if not accepted:
        return response
    names = {item.partition(";")[0].strip() for item in accepted.split(",")}
    if "gzip" in names and len(response.body) > _COMPRESSED_FROM:
        response.body = gzip.compress(response.body, 1, mtime=0)
        response.headers |= {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
    return response


def refused(failure: Failure) -> Response:
    """A refusal."""
    response = answered(failure.status, failure.code)
    if failure.about is not None and failure.about.retry_after:
        response.headers["Retry-After"] = str(failure.about.retry_after)
    return response


def plain(text: str, status: int = 200) -> Response:
    """A few words."""
    headers = {"Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff"}
    return Response(status, {**headers, **_NO_CACHE}, text.encode())


def timed_out() -> Response:
    """What is said when a minute was not enough: by the server around the server, in its way."""
    status: Object = {
        "metadata": {},
        "status": "Failure",
        "message": "Timeout: request did not complete within the allotted timeout",
        "reason": "Timeout",
        "details": {},
        "code": 504,
    }
    headers = {"Content-Type": "text/plain; charset=utf-8"}
    return Response(504, headers, compact_json(status) + b"\n")


def done(resource: Resource, entry: Entry) -> Object:
    """What is said of an object that is gone."""
    metadata = entry.content["metadata"]
    details: Object = {"name": metadata["name"]}
    if resource.group:
        details["group"] = resource.group
    details |= {"kind": resource.plural, "uid": metadata.get("uid", "")}
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": details,
    }


def metadata_only(content: Object, version: str) -> Object:
    """An object of which only the metadata is told."""
    return {
        "kind": "PartialObjectMetadata",
        "apiVersion": f"{_META}/{version}",
        "metadata": content["metadata"],
    }


def list_head(resource: Resource, metadata: Object) -> bytes:
    """How a list begins."""
    if resource.is_custom:
        head: Object = {"apiVersion": resource.api_version, "items": 0}
        body = compact_json({"kind": resource.list_kind, "metadata": metadata})
        return compact_json(head)[: -len("0}")] + b"[%s]," + body[1:]
    content = {"kind": resource.list_kind, "apiVersion": resource.api_version, "metadata": metadata}
    return compact_json(content)[:-1] + b',"items":[%s]}'


def encoded_list(resource: Resource, metadata: Object, items: Iterable[bytes]) -> bytes:
    """A list of objects that are encoded already."""
    before, after = list_head(resource, metadata).split(b"[%s]")
    return b"".join((before, b"[", b",".join(items), b"]", after))
