"""Requests about buckets and what they list."""

from __future__ import annotations

import base64
from urllib.parse import quote

from stockman_lab.http.messages import Response
from stockman_lab.objects.asked import MOST, Asked, answered, moment
from stockman_lab.objects.buckets import Buckets, Listing
from stockman_lab.objects.refusals import invalid, not_allowed, not_implemented
from stockman_lab.objects.state import StoredObject
from stockman_lab.objects.upload_calls import list_uploads
from stockman_lab.objects.xml import Member, local_name, malformed, read, texts

_SUM = "x-amz-checksum-"
_WITHOUT_SUM = "Missing required header for this request: Content-MD5 OR x-amz-checksum-*"


def all_buckets(buckets: Buckets, incoming: Asked) -> Response:
    """The list of buckets."""
    if incoming.method != "GET":
        raise not_allowed()
    rows: list[Member] = [
        ("Bucket", [("CreationDate", moment(one.created_at)), ("Name", name)])
        for name, one in sorted(buckets.state.buckets.items())
    ]
    owner: Member = ("Owner", [("ID", incoming.caller.access_key)])
    return answered("ListAllMyBucketsResult", [("Buckets", rows), owner])


def bucket_answer(buckets: Buckets, incoming: Asked) -> Response:
    """What is answered to a request for a bucket."""
    name, query = incoming.bucket, incoming.query
    if query.keys() & {"versioning", "location"} and incoming.method != "GET":
        raise not_implemented()
    match incoming.method:
        case "PUT":
            buckets.create(name)
            return Response(200, headers={"Location": f"/{name}"})
        case "HEAD":
            buckets.bucket(name)
            return Response(200, headers={"x-amz-bucket-region": buckets.state.region})
        case "DELETE":
            buckets.remove(name)
            return Response(204)
        case "POST" if "delete" in query:
            return _delete_many(buckets, incoming)
        case "GET":
            return _read(buckets, incoming)
    raise not_allowed()


def _read(buckets: Buckets, incoming: Asked) -> Response:
    buckets.bucket(incoming.bucket)
    if "location" in incoming.query:
        return answered("LocationConstraint", [])
    if "versioning" in incoming.query:
        return answered("VersioningConfiguration", [])
    if "uploads" in incoming.query:
        return list_uploads(buckets, incoming)
    return _list(buckets, incoming)


def _list(buckets: Buckets, incoming: Asked) -> Response:
    query = incoming.query
    is_new = query.get("list-type") == "2"
    most = incoming.number("max-keys", MOST)
    after = query.get("start-after" if is_new else "marker", "")
    if is_new and query.get("continuation-token"):
        after = _decode_token(query["continuation-token"])
    found = buckets.listed(
        incoming.bucket,
        prefix=query.get("prefix", ""),
        delimiter=query.get("delimiter", ""),
        after=after,
        most=min(most, MOST),
    )
    encoded = _url_encode if query.get("encoding-type") == "url" else str
    members: list[Member] = [
        ("Name", incoming.bucket),
        ("Prefix", encoded(query.get("prefix", ""))),
        ("MaxKeys", min(most, MOST)),
        ("IsTruncated", bool(found.next)),
    ]
    if query.get("delimiter"):
        members.append(("Delimiter", encoded(query["delimiter"])))
    members += _place(incoming, found) if is_new else _old_place(incoming, found)
    if query.get("encoding-type"):
        members.append(("EncodingType", "url"))
    members += [("Contents", _row(encoded(key), one)) for key, one in found.objects]
    members += [("CommonPrefixes", [("Prefix", encoded(prefix))]) for prefix in found.prefixes]
    region = {"x-amz-bucket-region": buckets.state.region}
    return answered("ListBucketResult", members, region)


def _place(incoming: Asked, listing: Listing) -> list[Member]:
    """Where a page stands in the whole list."""
    members: list[Member] = [("KeyCount", len(listing.objects) + len(listing.prefixes))]
    for name, member in (
        ("continuation-token", "ContinuationToken"),
        ("start-after", "StartAfter"),
    ):
        if incoming.query.get(name):
            members.append((member, incoming.query[name]))
    if listing.next:
        members.append(("NextContinuationToken", _token(listing.next)))
    return members


def _old_place(incoming: Asked, listing: Listing) -> list[Member]:
    encoded = _url_encode if incoming.query.get("encoding-type") == "url" else str
    members: list[Member] = [("Marker", encoded(incoming.query.get("marker", "")))]
    if listing.next and incoming.query.get("delimiter"):
        members.append(("NextMarker", encoded(listing.next)))
    return members


def _row(key: str, stored_object: StoredObject) -> list[Member]:
    return [
        ("Key", key),
        ("LastModified", moment(stored_object.modified_at)),
        ("ETag", f'"{stored_object.etag}"'),
        ("Size", stored_object.size),
        ("StorageClass", "STANDARD"),
    ]


def _delete_many(buckets: Buckets, incoming: Asked) -> Response:
    buckets.bucket(incoming.bucket)
    if not any(
        header == "content-md5" or header.startswith(_SUM) for header in incoming.request.headers
    ):
        raise invalid(_WITHOUT_SUM, "InvalidRequest")
    quiet, keys = False, []
    for element in read(incoming.content, "Delete"):
        if local_name(element) == "Quiet":
            quiet = (element.text or "").strip() == "true"
        elif local_name(element) == "Object":
            keys.append(texts(element).get("Key", ""))
    if not keys or not all(keys) or len(keys) > MOST:
        raise malformed()
    for key in keys:
        buckets.delete(incoming.bucket, key)
    rows: list[Member] = [("Deleted", [("Key", key)]) for key in keys]
    return answered("DeleteResult", [] if quiet else rows)


def _url_encode(text: str) -> str:
    return quote(text, safe="/")


def _token(key: str) -> str:
    return base64.urlsafe_b64encode(key.encode()).decode()


def _decode_token(token: str) -> str:
    try:
        return base64.b64decode(token.encode(), altchars=b"-_", validate=True).decode()
    except ValueError:
        raise invalid("The continuation token provided is incorrect") from None
