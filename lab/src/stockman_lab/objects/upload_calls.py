"""Requests about uploads in parts."""

from __future__ import annotations

from stockman_lab.http.messages import Response
from stockman_lab.objects.asked import MOST, Asked, answered, moment
from stockman_lab.objects.buckets import Buckets
from stockman_lab.objects.refusals import not_allowed, not_implemented
from stockman_lab.objects.xml import Member, local_name, malformed, read, texts


def upload_answer(buckets: Buckets, asked: Asked) -> Response:
    """What is answered to a request for an upload of an object."""
    upload = asked.query.get("uploadId", "")
    match asked.method:
        case "POST" if "uploads" in asked.query:
            begun = buckets.begin(asked.bucket, asked.key, asked.new)
            rows = [("Bucket", asked.bucket), ("Key", asked.key), ("UploadId", begun)]
            return answered("InitiateMultipartUploadResult", rows)
        case "PUT":
            if asked.header("x-amz-copy-source"):
                raise not_implemented()
            number = asked.number("partNumber", 0)
            part = buckets.put_part(asked.bucket, upload, asked.key, number, asked.new)
            return Response(200, headers={"ETag": f'"{part.etag}"'})
        case "POST":
            return _complete(buckets, asked, upload)
        case "DELETE":
            buckets.upload(asked.bucket, upload, asked.key)
            buckets.abort(asked.bucket, upload)
            return Response(204)
        case "GET":
            return _list_parts(buckets, asked, upload)
    raise not_allowed()


def _complete(buckets: Buckets, asked: Asked, upload: str) -> Response:
    wanted = []
    for element in read(asked.content, "CompleteMultipartUpload"):
        row = texts(element)
        number = row.get("PartNumber", "")
        if local_name(element) != "Part" or not number.isdecimal() or len(number) > 5:
            raise malformed()
        wanted.append((int(number), row.get("ETag", "")))
    if not wanted:
        raise malformed()
    complete = buckets.complete(asked.bucket, upload, asked.key, wanted, asked.new)
    place = f"http://{asked.header('host')}/{asked.bucket}/{asked.key}"
    rows: list[Member] = [("Location", place), ("Bucket", asked.bucket), ("Key", asked.key)]
    return answered("CompleteMultipartUploadResult", [*rows, ("ETag", f'"{complete.etag}"')])


def list_uploads(buckets: Buckets, asked: Asked) -> Response:
    """Uploads of a bucket that are not finished, page by page."""
    query = asked.query
    if query.get("delimiter"):
        raise not_implemented()
    prefix, most = query.get("prefix", ""), min(asked.number("max-uploads", MOST), MOST)
    after = query.get("key-marker", ""), query.get("upload-id-marker", "")
    found = sorted(
        (one.key, upload, one.started_at)
        for upload, one in buckets.bucket(asked.bucket).uploads.items()
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
        ("Bucket", asked.bucket),
        ("KeyMarker", after[0]),
        ("UploadIdMarker", after[1]),
        ("Prefix", prefix),
        ("MaxUploads", most),
        ("IsTruncated", len(page) < len(found)),
    ]
    if page and len(page) < len(found):
        head += [("NextKeyMarker", page[-1][0]), ("NextUploadIdMarker", page[-1][1])]
    return answered("ListMultipartUploadsResult", [*head, *rows])


def _is_behind(place: tuple[str, str], after: tuple[str, str]) -> bool:
    """Whether an upload comes after a marker; one without an id is behind all of its key."""
    return place > after if after[1] else place[0] > after[0]


def _list_parts(buckets: Buckets, asked: Asked, upload: str) -> Response:
    found = buckets.upload(asked.bucket, upload, asked.key)
    most, after = min(asked.number("max-parts", MOST), MOST), asked.number("part-number-marker", 0)
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
        ("Bucket", asked.bucket),
        ("Key", asked.key),
        ("UploadId", upload),
        ("StorageClass", "STANDARD"),
        ("PartNumberMarker", after),
        ("MaxParts", most),
        ("IsTruncated", len(page) < len(numbers)),
    ]
    head.append(("NextPartNumberMarker", page[-1] if page else after))
    return answered("ListPartsResult", [*head, *rows])
