"""An object store over S3 that uses signed requests only."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from xml.sax.saxutils import escape

from stockman.model.errors import StockmanError
from stockman.ports.objects import ObjectMetadata, UnfinishedUpload
from stockman.s3.bucket import Bucket, Query
from stockman.s3.credentials import S3Credentials
from stockman.s3.errors import unexpected_answer, unreachable
from stockman.s3.location import S3Location, validate_location
from stockman.s3.transport import Transport
from stockman.s3.xml import object_key, parse_page, parse_timestamp

_PART_SIZE = 5 << 20
_CHUNK_SIZE = 1 << 20


class S3Client:
    """An object store over a transport that returns complete replies."""

    def __init__(
        self,
        transport: Transport,
        location: S3Location,
        credentials: S3Credentials,
        now: Callable[[], datetime],
    ) -> None:
        self._location = validate_location(location)
        self._bucket = Bucket(transport, location, credentials, now)

    async def put(self, key: str, chunks: AsyncIterator[bytes]) -> None:
        full = self._location.full_key(key)
        reply = await self._bucket.send("POST", full, (("uploads", ""),))
        page = parse_page(
            self._location.shown(key), reply.body, "InitiateMultipartUploadResult", ""
        )
        upload: Query = (("uploadId", page.members.get("UploadId", "")),)
        try:
            tags = [
                await self._part(full, upload, number, content)
                async for number, content in _split_parts(chunks)
            ]
            await self._complete(key, full, upload, tags)
        except BaseException:
            with suppress(StockmanError):
                await self._bucket.send("DELETE", full, upload)
            raise

    async def create(self, key: str, content: bytes) -> None:
        full = self._location.full_key(key)
        headers = {"If-None-Match": "*"}
        await self._bucket.send("PUT", full, headers=headers, body=content, once=True)

    async def read(self, key: str) -> AsyncIterator[bytes]:
        reply = await self._bucket.send("GET", self._location.full_key(key))
        for offset in range(0, len(reply.body), _CHUNK_SIZE):
            yield reply.body[offset : offset + _CHUNK_SIZE]
        if len(reply.body) != int(reply.headers.get("content-length", len(reply.body))):
            raise unreachable(self._location.shown(key), "the connection was lost")

    async def head(self, key: str) -> ObjectMetadata:
        reply = await self._bucket.send("HEAD", self._location.full_key(key))
        try:
            return ObjectMetadata(
                key=key,
                size=int(reply.headers["content-length"]),
                tag=reply.headers["etag"].strip('"'),
                modified=parsedate_to_datetime(reply.headers["last-modified"]).astimezone(UTC),
            )
        except (KeyError, ValueError):
            raise unexpected_answer(
                self._location.shown(key), "its reply has no size, tag or time"
            ) from None

    async def list_objects(self, folder: str = "") -> tuple[ObjectMetadata, ...]:
        prefix, objects = self._location.full_folder(folder), list[ObjectMetadata]()
        query: Query = (("encoding-type", "url"), ("list-type", "2"), ("prefix", prefix))
        token: Query = ()
        while True:
            reply = await self._bucket.send("GET", "", query + token)
            page = parse_page(self._location.shown(), reply.body, "ListBucketResult", "Contents")
            for row in page.rows:
                key = self._location.own_key(object_key(row, page))
                if key is None or not row.text("Size").isdecimal():
                    raise unexpected_answer(
                        self._location.shown(),
                        "its list contains an object outside of the folder or without a size",
                    )
                modified = parse_timestamp(self._location.shown(), row.text("LastModified"))
                tag = row.text("ETag").strip('"')
                size = int(row.text("Size"))
                objects.append(ObjectMetadata(key=key, size=size, tag=tag, modified=modified))
            if not page.is_truncated:
                return tuple(objects)
            following: Query = (
                ("continuation-token", page.members.get("NextContinuationToken", "")),
            )
            if following == token or not following[0][1]:
                raise unexpected_answer(self._location.shown(), "its list does not end")
            token = following

    async def delete(self, key: str) -> None:
        await self._bucket.send("DELETE", self._location.full_key(key))

    async def list_uploads(self, folder: str = "") -> tuple[UnfinishedUpload, ...]:
        return await self._bucket.list_uploads(folder)

    async def abort_upload(self, upload: UnfinishedUpload) -> None:
        await self._bucket.abort_upload(upload)

    async def _part(self, full: str, upload: Query, number: int, content: bytes) -> str:
        query = (("partNumber", str(number)), *upload)
        reply = await self._bucket.send("PUT", full, query, body=content)
        return reply.headers.get("etag", "")

    async def _complete(self, key: str, full: str, upload: Query, tags: list[str]) -> None:
        rows = "".join(
            f"<Part><PartNumber>{number}</PartNumber><ETag>{escape(tag)}</ETag></Part>"
            for number, tag in enumerate(tags, start=1)
        )
        body = f"<CompleteMultipartUpload>{rows}</CompleteMultipartUpload>"
        reply = await self._bucket.send("POST", full, upload, body=body.encode())
        # A storage may reply 200 and report an error in the body.
        parse_page(self._location.shown(key), reply.body, "CompleteMultipartUploadResult", "")


async def _split_parts(chunks: AsyncIterator[bytes]) -> AsyncIterator[tuple[int, bytes]]:
    """Yield at least one part; all but the last have the minimum size."""
    number, buffer = 1, bytearray()
    async for chunk in chunks:
        buffer += chunk
        while len(buffer) >= _PART_SIZE:
            yield number, bytes(buffer[:_PART_SIZE])
            del buffer[:_PART_SIZE]
            number += 1
    if buffer or number == 1:
        yield number, bytes(buffer)
