"""Requests about objects."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import unquote

from stockman_lab.http.messages import Response
from stockman_lab.objects.asked import META, Asked, answered, http_date, moment
from stockman_lab.objects.buckets import Buckets, NewObject
from stockman_lab.objects.refusals import (
    ObjectsError,
    invalid,
    not_allowed,
    not_implemented,
    precondition,
)
from stockman_lab.objects.state import StoredObject

_RANGE = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})")


def asked_range(text: str, size: int) -> range | None:
    """The bytes that a header means. None: all of them."""
    found = _RANGE.fullmatch(text)
    if found is None or found[0] == "bytes=-":
        return None
    first, last = found[1], found[2]
    if first and last and int(first) > int(last):
        return None
    if first:
        numbers = range(int(first), min(int(last) + 1 if last else size, size))
    else:
        numbers = range(max(size - int(last), 0), size)
    if not numbers:
        raise ObjectsError(
            416,
            "InvalidRange",
            "The requested range is not satisfiable",
            ActualObjectSize=str(size),
            RangeRequested=text,
        )
    return numbers


_IMPLIES_MORE = (
    "x-amz-grant-",
    "x-amz-object-lock-",
    "x-amz-server-side-encryption",
    "x-amz-tagging",
    "x-amz-website-redirect-location",
)
_TOLD_OTHERWISE = {
    "response-cache-control": "Cache-Control",
    "response-content-disposition": "Content-Disposition",
    "response-content-encoding": "Content-Encoding",
    "response-content-language": "Content-Language",
    "response-content-type": "Content-Type",
    "response-expires": "Expires",
}


def object_answer(buckets: Buckets, incoming: Asked) -> Response:
    """What is answered to a request for an object."""
    match incoming.method:
        case "PUT":
            check_wishes(incoming)
            if incoming.header("x-amz-copy-source"):
                return _copy(buckets, incoming)
            made = buckets.put(incoming.bucket, incoming.key, incoming.new)
            return Response(200, headers={"ETag": f'"{made.etag}"'})
        case "DELETE":
            buckets.delete(incoming.bucket, incoming.key)
            return Response(204)
        case "GET" | "HEAD":
            return _read(buckets, incoming)
    raise not_allowed()


def check_wishes(incoming: Asked) -> None:
    """Refuse what is wished for an object and not done here."""
    if incoming.header("x-amz-storage-class") not in ("", "STANDARD"):
        raise invalid("The storage class you specified is not valid", "InvalidStorageClass")
    if incoming.header("x-amz-acl") not in ("", "private") or any(
        name.startswith(_IMPLIES_MORE) for name in incoming.request.headers
    ):
        raise not_implemented()


def _read(buckets: Buckets, incoming: Asked) -> Response:
    found = buckets.found(incoming.bucket, incoming.key)
    if _is_unchanged(incoming, found):
        unchanged = {"ETag": f'"{found.etag}"', "Last-Modified": http_date(found.modified_at)}
        return Response(304, headers=unchanged)
    headers = {
        "ETag": f'"{found.etag}"',
        "Last-Modified": http_date(found.modified_at),
        "Content-Type": found.content_type,
        "Accept-Ranges": "bytes",
        **{f"{META}{name}": value for name, value in found.metadata.items()},
        **{
            name: incoming.query[one]
            for one, name in _TOLD_OTHERWISE.items()
            if one in incoming.query
        },
    }
    content = buckets.content(found)
    part = asked_range(incoming.header("range"), len(content))
    if part is None:
        return Response(200, headers=headers, body=content)
    headers["Content-Range"] = f"bytes {part.start}-{part.stop - 1}/{len(content)}"
    return Response(206, headers=headers, body=content[part.start : part.stop])


def _is_unchanged(incoming: Asked, stored_object: StoredObject) -> bool:
    """Whether the caller has it already; refused where it is not the one that is meant."""
    match, none = incoming.header("if-match"), incoming.header("if-none-match")
    modified = datetime.fromtimestamp(int(stored_object.modified_at), UTC)
    since, until = _date(incoming, "if-modified-since"), _date(incoming, "if-unmodified-since")
    if match:
        if match.strip('"') not in ("*", stored_object.etag):
            raise precondition("If-Match")
    elif until is not None and modified > until:
        raise precondition("If-Unmodified-Since")
    if none:
        return none.strip('"') in ("*", stored_object.etag)
    return since is not None and modified <= since


def _date(incoming: Asked, name: str) -> datetime | None:
    try:
        parsedate = parsedate_to_datetime(incoming.header(name))
    except ValueError:
        return None
    return parsedate if parsedate.tzinfo else parsedate.replace(tzinfo=UTC)


def _copy(buckets: Buckets, incoming: Asked) -> Response:
    source = unquote(incoming.header("x-amz-copy-source")).removeprefix("/")
    if "?versionId=" in source:
        raise not_implemented()
    bucket, _, key = source.partition("/")
    if not bucket or not key:
        raise invalid("Invalid copy source object key", ArgumentName="x-amz-copy-source")
    found = buckets.found(bucket, key)
    is_replaced = incoming.header("x-amz-metadata-directive").upper() == "REPLACE"
    if (bucket, key) == (incoming.bucket, incoming.key) and not is_replaced:
        raise invalid(
            "This copy request is illegal because it is trying to copy an object to itself without"
            " changing the object's metadata, storage class, website redirect location or"
            " encryption attributes.",
            "InvalidRequest",
        )
    new = NewObject(
        content=buckets.content(found),
        content_type=incoming.header("content-type") if is_replaced else found.content_type,
        metadata=incoming.metadata if is_replaced else found.metadata,
        if_none_match=incoming.header("if-none-match"),
        if_match=incoming.header("if-match"),
    )
    made = buckets.put(incoming.bucket, incoming.key, new)
    rows = [("LastModified", moment(made.modified_at)), ("ETag", f'"{made.etag}"')]
    return answered("CopyObjectResult", rows)
