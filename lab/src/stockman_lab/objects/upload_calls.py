"""Requests about uploads in parts."""

from __future__ import annotations

from stockman_lab.http.messages import Response
from stockman_lab.objects.asked import MOST, Asked, answered, moment
from stockman_lab.objects.buckets import Buckets
from stockman_lab.objects.refusals import not_allowed, not_implemented
from stockman_lab.objects.xml import Member, local_name, malformed, read, texts


def upload_answer(buckets: Buckets, incoming: Asked) -> Response:
    """What is answered to a request for an upload of an object."""
    upload = incoming.query.get("uploadId", "")
    match incoming.method:
        case "POST" if "uploads" in incoming.query:
            begun = buckets.begin(incoming.bucket, incoming.key, incoming.new)
            rows = [("Bucket", incoming.bucket), ("Key", incoming.key), ("UploadId", begun)]
            return answered("InitiateMultipartUploadResult", rows)
        case "PUT":
            if incoming.header("x-amz-copy-source"):
                raise not_implemented()
            number = incoming.number("partNumber", 0)
            part = buckets.put_part(incoming.bucket, upload, incoming.key, number, incoming.new)
            return Response(200, headers={"ETag": f'"{part.etag}"'})
        case "POST":
            return _complete(buckets, incoming, upload)
        case "DELETE":
            buckets.upload(incoming.bucket, upload, incoming.key)
            buckets.abort(incoming.bucket, upload)
            return Response(204)
        case "GET":
            return _list_parts(buckets, incoming, upload)
    raise not_allowed()


def _complete(buckets: Buckets, incoming: Asked, upload: str) -> Response:
    wanted = []
    for element in read(incoming.content, "CompleteMultipartUpload"):
        row = texts(element)
        number = row.get("PartNumber", "")
        if local_name(element) != "Part" or not number.isdecimal() or len(number) > 5:
            raise malformed()
        wanted.append((int(number), row.get("ETag", "")))
    if not wanted:
        raise malformed()
    complete = buckets.complete(incoming.bucket, upload, incoming.key, wanted, incoming.new)
    text = f"http://{incoming.header('host')}/{incoming.bucket}/{incoming.key}"
    rows: list[Member] = [("Location", text), ("Bucket", incoming.bucket), ("Key", incoming.key)]
    return answered("CompleteMultipartUploadResult", [*rows, ("ETag", f'"{complete.etag}"')])


def list_uploads(buckets: Buckets, incoming: Asked) -> Response:
    """Uploads of a bucket that are not finished, page by page."""
    query = incoming.query
    if query.get("delimiter"):
        raise not_implemented()
    prefix, most = query.get("prefix", ""), min(incoming.number("max-uploads", MOST), MOST)
    after = query.get("key-marker", ""), query.get("upload-id-marker", "")
    found = sorted(
        (one.key, upload, one.started_at)
        for upload, one in buckets.bucket(incoming.bucket).uploads.items()
        if one.key.startswith(prefix) and _is_behind((one.key, upload), after)
    )
    page = found[:most]
    rows: list[Member] = [
        (
            "Upload",
            [
                ("Initiated", moment(started_at)),
                ("Key", key),
                ("StorageClass", "STANDARD"),
                ("UploadId", upload),
            ],
        )
        for key, upload, started_at in page
    ]
    head: list[Member] = [
        ("Bucket", incoming.bucket),
        ("KeyMarker", after[0]),
        ("UploadIdMarker", after[1]),
        ("Prefix", prefix),
        ("MaxUploads", most),
        ("IsTruncated", len(page) < len(found)),
    ]
    if page and len(page) < len(found):
        head += [("NextKeyMarker", page[-1][0]), ("NextUploadIdMarker", page[-1][1])]
    return answered("ListMultipartUploadsResult", [*head, *rows])


def _is_behind(rows: tuple[str, str], after: tuple[str, str]) -> bool:
    """Whether an upload comes after a marker; one without an id is behind all of its key."""
    return rows > after if after[1] else rows[0] > after[0]


def _list_parts(buckets: Buckets, incoming: Asked, upload: str) -> Response:
    found = buckets.upload(incoming.bucket, upload, incoming.key)
    most, after = (
        min(incoming.number("max-parts", MOST), MOST),
        incoming.number("part-number-marker", 0),
    )
    numbers = [number for number in sorted(found.parts) if number > after]
    page = numbers[:most]
    rows: list[Member] = []
    for number in page:
        part = found.parts[number]
        row: list[Member] = [
            ("PartNumber", number),
            ("LastModified", moment(part.modified_at)),
            ("ETag", f'"{part.etag}"'),
            ("Size", part.size),
        ]
        rows.append(("Part", row))
    head: list[Member] = [
        ("Bucket", incoming.bucket),
        ("Key", incoming.key),
        ("UploadId", upload),
        ("StorageClass", "STANDARD"),
        ("PartNumberMarker", after),
        ("MaxParts", most),
        ("IsTruncated", len(page) < len(numbers)),
    ]
    head.append(("NextPartNumberMarker", page[-1] if page else after))
    return answered("ListPartsResult", [*head, *rows])
