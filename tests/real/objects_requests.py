"""A list of requests of S3, told to any server, and what it answers in a form to compare."""

from __future__ import annotations

import base64
import hashlib
import http.client
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import urlsplit
from xml.etree import ElementTree as ET

from lab.tests.objects.signing import Ask, Signer

PART = b"p" * (5 << 20)
_HEADERS = (
    "etag",
    "content-type",
    "content-range",
    "content-length",
    "accept-ranges",
    "x-amz-meta-kind",
    "x-amz-bucket-region",
)
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
_LEFT_OUT = frozenset(
    {
        *("RequestId", "HostId", "Owner", "Initiator", "Resource", "BucketRegion"),
        *("ChecksumAlgorithm", "ChecksumType", "ChecksumCRC64NVME"),
    }
)
"""Members that differ between servers, and sums that this one makes without being asked."""
Said = tuple[int, dict[str, str], object]


@dataclass
class Teller:
    """Tells requests to a server, one after the other; remembers the last upload."""

    url: str
    signer: Signer
    upload: str = ""
    etag: str = ""
    token: str = ""

    def said(self, ask: Ask) -> Said:
        """What is answered."""
        ask = self._filled(ask)
        connection = http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=30)
        now = datetime.now(UTC)  # noqa: TID251  # the server verifies signatures by it
        headers = self.signer.headers(ask, now)
        connection.request(ask.method, ask.target, ask.body or None, headers)
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        values = {name: value for name in _HEADERS if (value := answer.getheader(name))}
        is_document = body.startswith(b"<")
        if is_document or not body:
            values.pop("content-length", None)
        self.etag = (values.get("etag") or self.etag).strip('"')
        return answer.status, values, self._read(body) if is_document else body[:80]

    def _filled(self, ask: Ask) -> Ask:
        def filled(text: str) -> str:
            for name in ("upload", "etag", "token"):
                text = text.replace(f"<{name}>", getattr(self, name))
            return text

        return Ask(
            ask.method,
            ask.path,
            {name: filled(value) for name, value in ask.query.items()},
            {name: filled(value) for name, value in ask.headers.items()},
            filled(ask.body.decode()).encode() if len(ask.body) < 10_000 else ask.body,
        )

    def _read(self, body: bytes) -> object:
        root = ET.fromstring(body)
        if _name(root) == "InitiateMultipartUploadResult":
            self.upload = next(one.text or "" for one in root if _name(one) == "UploadId")
        for one in root:
            if _name(one) == "NextContinuationToken":
                self.token = one.text or ""
        return _plain(root, self.upload, self.url)


def _plain(element: ET.Element, upload: str, url: str) -> object:
    name = _name(element)
    if len(element):
        inner = [_plain(one, upload, url) for one in element if not _is_left_out(one)]
        return name, sorted(inner, key=str)
    if name in ("ContinuationToken", "NextContinuationToken"):
        return name, "TOKEN"
    text = _TIME.sub("TIME", element.text or "").replace(url, "URL")
    return name, "UPLOAD" if upload and text == upload else text


def _is_left_out(element: ET.Element) -> bool:
    """Also what says nothing: some servers leave empty members out."""
    is_empty = not len(element) and element.text in (None, "", "null")
    return is_empty or _name(element) in _LEFT_OUT


def _name(element: ET.Element) -> str:
    return element.tag.rpartition("}")[2]


def _complete(*parts: tuple[int, str]) -> bytes:
    rows = "".join(
        f"<Part><PartNumber>{number}</PartNumber><ETag>{etag}</ETag></Part>"
        for number, etag in parts
    )
    return f"<CompleteMultipartUpload>{rows}</CompleteMultipartUpload>".encode()


def _delete(*keys: str, quiet: bool = False) -> Ask:
    rows = "".join(f"<Object><Key>{key}</Key></Object>" for key in keys)
    return _deletion(f"<Delete>{'<Quiet>true</Quiet>' if quiet else ''}{rows}</Delete>")


def _deletion(text: str) -> Ask:
    digest = hashlib.md5(text.encode(), usedforsecurity=False).digest()
    headers = {"content-md5": base64.b64encode(digest).decode()}
    return Ask("POST", "/flock", {"delete": ""}, headers, text.encode())


_PART_TAG = "2328ce96efb11935e3623f9e00f2ddc4"
_NO_UPLOAD = "00000000-0000-0000-0000-000000000000"


def requests() -> Iterator[tuple[str, Ask]]:
    """Names and requests, in an order in which they make sense."""
    yield "no bucket yet", Ask("GET", "/flock")
    yield "head of no bucket", Ask("HEAD", "/flock")
    yield "bucket with a bad name", Ask("PUT", "/Flock_1")
    yield "create", Ask("PUT", "/flock")
    yield "create again", Ask("PUT", "/flock")
    yield "head", Ask("HEAD", "/flock")
    yield "location", Ask("GET", "/flock", {"location": ""})
    yield "versioning", Ask("GET", "/flock", {"versioning": ""})
    yield "all buckets", Ask("GET", "/")
    yield "empty list", Ask("GET", "/flock", {"list-type": "2"})
    yield "empty old list", Ask("GET", "/flock")
    yield (
        "put",
        Ask(
            "PUT",
            "/flock/a.txt",
            {},
            {"content-type": "text/plain", "x-amz-meta-kind": "wool"},
            b"wool",
        ),
    )
    yield "get", Ask("GET", "/flock/a.txt")
    yield "head of an object", Ask("HEAD", "/flock/a.txt")
    yield "get if other", Ask("GET", "/flock/a.txt", {}, {"if-none-match": '"<etag>"'})
    yield "get if the same", Ask("GET", "/flock/a.txt", {}, {"if-match": '"<etag>"'})
    yield "get if another one", Ask("GET", "/flock/a.txt", {}, {"if-match": '"0"'})
    yield "first bytes", Ask("GET", "/flock/a.txt", {}, {"range": "bytes=0-1"})
    yield "last bytes", Ask("GET", "/flock/a.txt", {}, {"range": "bytes=-2"})
    yield "bytes to the end", Ask("GET", "/flock/a.txt", {}, {"range": "bytes=1-"})
    yield "bytes beyond the end", Ask("GET", "/flock/a.txt", {}, {"range": "bytes=1-99"})
    yield "bytes that are not there", Ask("GET", "/flock/a.txt", {}, {"range": "bytes=9-"})
    yield "bytes the wrong way", Ask("GET", "/flock/a.txt", {}, {"range": "bytes=3-1"})
    yield "several ranges", Ask("GET", "/flock/a.txt", {}, {"range": "bytes=0-0,2-2"})
    yield "no key", Ask("GET", "/flock/none")
    yield "head of no key", Ask("HEAD", "/flock/none")
    yield "put into no bucket", Ask("PUT", "/none/a.txt", {}, {}, b"wool")
    yield "create only, there", Ask("PUT", "/flock/a.txt", {}, {"if-none-match": "*"}, b"x")
    yield "create only, new", Ask("PUT", "/flock/lock", {}, {"if-none-match": "*"}, b"x")
    yield "over another one", Ask("PUT", "/flock/lock", {}, {"if-match": '"0"'}, b"y")
    yield "over the same", Ask("PUT", "/flock/lock", {}, {"if-match": '"<etag>"'}, b"y")
    yield "over none", Ask("PUT", "/flock/none", {}, {"if-match": '"<etag>"'}, b"y")
    yield "empty object", Ask("PUT", "/flock/empty", {}, {}, b"")
    yield "get an empty object", Ask("GET", "/flock/empty")
    for name in ("b/1", "b/2", "c/d/3", "odd key+&<é>"):
        yield f"put {name}", Ask("PUT", f"/flock/{name}", {}, {}, name.encode())
    yield "get an odd key", Ask("GET", "/flock/odd key+&<é>")
    yield "whole list", Ask("GET", "/flock", {"list-type": "2"})
    yield "encoded list", Ask("GET", "/flock", {"list-type": "2", "encoding-type": "url"})
    yield "old list", Ask("GET", "/flock", {"max-keys": "2"})
    yield "old list behind", Ask("GET", "/flock", {"marker": "b/2"})
    yield "old list of folders", Ask("GET", "/flock", {"delimiter": "/", "max-keys": "2"})
    yield "folders", Ask("GET", "/flock", {"list-type": "2", "delimiter": "/"})
    yield "in a folder", Ask("GET", "/flock", {"list-type": "2", "delimiter": "/", "prefix": "b/"})
    yield "prefix", Ask("GET", "/flock", {"list-type": "2", "prefix": "c"})
    yield "start after", Ask("GET", "/flock", {"list-type": "2", "start-after": "b/1"})
    yield "first page", Ask("GET", "/flock", {"list-type": "2", "max-keys": "3"})
    yield (
        "second page",
        Ask("GET", "/flock", {"list-type": "2", "max-keys": "3", "continuation-token": "<token>"}),
    )
    yield "page of none", Ask("GET", "/flock", {"list-type": "2", "max-keys": "0"})
    yield "no number", Ask("GET", "/flock", {"list-type": "2", "max-keys": "many"})
    yield "copy", Ask("PUT", "/flock/copy", {}, {"x-amz-copy-source": "/flock/a.txt"})
    yield "get the copy", Ask("GET", "/flock/copy")
    yield "copy none", Ask("PUT", "/flock/copy", {}, {"x-amz-copy-source": "/flock/none"})
    yield "copy onto itself", Ask("PUT", "/flock/copy", {}, {"x-amz-copy-source": "flock/copy"})
    yield "copy from nowhere", Ask("PUT", "/flock/copy", {}, {"x-amz-copy-source": "flock"})
    yield (
        "wrong sum",
        Ask("PUT", "/flock/sum", {}, {"content-md5": "AAAAAAAAAAAAAAAAAAAAAA=="}, b"wool"),
    )
    yield "no sum", Ask("PUT", "/flock/sum", {}, {"content-md5": "nothing"}, b"wool")
    yield (
        "wrong check sum",
        Ask("PUT", "/flock/sum", {}, {"x-amz-checksum-crc32": "AAAAAA=="}, b"wool"),
    )
    yield (
        "right check sum",
        Ask("PUT", "/flock/sum", {}, {"x-amz-checksum-crc32c": "5WBbdA=="}, b"wool"),
    )
    yield from _uploads()
    yield "delete", Ask("DELETE", "/flock/a.txt")
    yield "delete again", Ask("DELETE", "/flock/a.txt")
    yield "delete many", _delete("b/1", "b/none")
    yield "quietly", _delete("b/2", quiet=True)
    yield "delete nothing", _deletion("<Delete/>")
    yield "delete nonsense", _deletion("<wool")
    yield "delete without a sum", Ask("POST", "/flock", {"delete": ""}, {}, b"<Delete/>")
    yield "remove while not empty", Ask("DELETE", "/flock")
    yield "what is left", Ask("GET", "/flock", {"list-type": "2"})
    for name in ("c/d/3", "odd key+&<é>", "copy", "empty", "lock", "large", "sum"):
        yield f"delete {name}", Ask("DELETE", f"/flock/{name}")
    yield "remove", Ask("DELETE", "/flock")
    yield "remove again", Ask("DELETE", "/flock")


def _uploads() -> Iterator[tuple[str, Ask]]:
    large = "/flock/large"
    yield "no uploads", Ask("GET", "/flock", {"uploads": ""})
    yield "begin", Ask("POST", large, {"uploads": ""}, {"x-amz-meta-kind": "fleece"})
    mine = {"uploadId": "<upload>"}
    yield "no parts", Ask("GET", large, mine)
    yield "first part", Ask("PUT", large, {"partNumber": "1", **mine}, {}, PART)
    yield "last part", Ask("PUT", large, {"partNumber": "2", **mine}, {}, b"end")
    yield "part zero", Ask("PUT", large, {"partNumber": "0", **mine}, {}, b"end")
    yield "part beyond", Ask("PUT", large, {"partNumber": "10001", **mine}, {}, b"end")
    yield "part of none", Ask("PUT", large, {"partNumber": "1", "uploadId": _NO_UPLOAD}, {}, b"end")
    yield "parts", Ask("GET", large, mine)
    yield "one part", Ask("GET", large, {"max-parts": "1", **mine})
    yield "uploads", Ask("GET", "/flock", {"uploads": ""})
    yield "uploads elsewhere", Ask("GET", "/flock", {"uploads": "", "prefix": "z"})
    yield "not to be seen yet", Ask("GET", large)
    one, two = (1, _PART_TAG), (2, "7f021a1415b86f2d013b2618fb31ae53")
    yield "complete backwards", Ask("POST", large, mine, {}, _complete(two, one))
    yield "complete a missing part", Ask("POST", large, mine, {}, _complete(one, (3, _PART_TAG)))
    yield "complete another tag", Ask("POST", large, mine, {}, _complete((1, two[1])))
    yield "complete nothing", Ask("POST", large, mine, {}, _complete())
    yield "complete nonsense", Ask("POST", large, mine, {}, b"<wool")
    yield "complete", Ask("POST", large, mine, {}, _complete(one, two))
    yield "head of the whole", Ask("HEAD", large)
    yield "bytes across parts", Ask("GET", large, {}, {"range": "bytes=5242878-5242882"})
    yield "complete again", Ask("POST", large, mine, {}, _complete(one, two))
    yield "begin another", Ask("POST", large, {"uploads": ""})
    yield "small part", Ask("PUT", large, {"partNumber": "1", **mine}, {}, b"end")
    yield "second part", Ask("PUT", large, {"partNumber": "2", **mine}, {}, b"end")
    yield (
        "complete too small",
        Ask("POST", large, mine, {}, _complete((1, two[1]), (2, two[1]))),
    )
    yield "abort", Ask("DELETE", large, mine)
    yield "abort again", Ask("DELETE", large, mine)
    yield "abort none", Ask("DELETE", large, {"uploadId": _NO_UPLOAD})
    yield "none left", Ask("GET", "/flock", {"uploads": ""})
