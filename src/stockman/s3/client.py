"""`ports.Objects` by signed requests alone, over any wire."""

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

_PART = 5 << 20
_PIECE = 1 << 20


class S3Client:
    """`ports.Objects` over a wire that carries whole answers."""

    def __init__(
        self,
        wire: Transport,
        place: S3Location,
        credentials: S3Credentials,
        now: Callable[[], datetime],
    ) -> None:
        self._place = validate_location(place)
        self._bucket = Bucket(wire, place, credentials, now)

    async def put(self, key: str, pieces: AsyncIterator[bytes]) -> None:
        full = self._place.full_key(key)
        begun = await self._bucket.asked("POST", full, (("uploads", ""),))
        listed = parse_page(self._place.shown(key), begun.body, "InitiateMultipartUploadResult", "")
        mine: Query = (("uploadId", listed.members.get("UploadId", "")),)
        try:
            tags = [
                await self._part(full, mine, number, content)
                async for number, content in _split_parts(pieces)
            ]
            await self._complete(key, full, mine, tags)
        except BaseException:
            with suppress(StockmanError):
                await self._bucket.asked("DELETE", full, mine)
            raise

    async def create(self, key: str, content: bytes) -> None:
        full = self._place.full_key(key)
        headers = {"If-None-Match": "*"}
        await self._bucket.asked("PUT", full, headers=headers, body=content, once=True)

    async def read(self, key: str) -> AsyncIterator[bytes]:
        answer = await self._bucket.asked("GET", self._place.full_key(key))
        for at in range(0, len(answer.body), _PIECE):
            yield answer.body[at : at + _PIECE]
        if len(answer.body) != int(answer.headers.get("content-length", len(answer.body))):
            raise unreachable(self._place.shown(key), "the connection was cut")

    async def head(self, key: str) -> ObjectMetadata:
        answer = await self._bucket.asked("HEAD", self._place.full_key(key))
        try:
            return ObjectMetadata(
                key=key,
                size=int(answer.headers["content-length"]),
                tag=answer.headers["etag"].strip('"'),
                modified=parsedate_to_datetime(answer.headers["last-modified"]).astimezone(UTC),
            )
        except (KeyError, ValueError):
            raise unexpected_answer(
                self._place.shown(key), "it tells no size, tag or time"
            ) from None

    async def listed(self, folder: str = "") -> tuple[ObjectMetadata, ...]:
        prefix, found = self._place.full_folder(folder), list[ObjectMetadata]()
        query: Query = (("encoding-type", "url"), ("list-type", "2"), ("prefix", prefix))
        token: Query = ()
        while True:
            answer = await self._bucket.asked("GET", "", query + token)
            listed = parse_page(self._place.shown(), answer.body, "ListBucketResult", "Contents")
            for row in listed.rows:
                key = self._place.own_key(object_key(row, listed))
                if key is None or not row.text("Size").isdecimal():
                    raise unexpected_answer(
                        self._place.shown(), "its list holds what was not asked for"
                    )
                modified = parse_timestamp(self._place.shown(), row.text("LastModified"))
                tag = row.text("ETag").strip('"')
                size = int(row.text("Size"))
                found.append(ObjectMetadata(key=key, size=size, tag=tag, modified=modified))
            if not listed.is_truncated:
                return tuple(found)
            following: Query = (
                ("continuation-token", listed.members.get("NextContinuationToken", "")),
            )
            if following == token or not following[0][1]:
                raise unexpected_answer(self._place.shown(), "its list has no end")
            token = following

    async def delete(self, key: str) -> None:
        await self._bucket.asked("DELETE", self._place.full_key(key))

    async def unfinished(self, folder: str = "") -> tuple[UnfinishedUpload, ...]:
        return await self._bucket.unfinished(folder)

    async def abort(self, upload: UnfinishedUpload) -> None:
        await self._bucket.abort(upload)

    async def _part(self, full: str, mine: Query, number: int, content: bytes) -> str:
        query = (("partNumber", str(number)), *mine)
        answer = await self._bucket.asked("PUT", full, query, body=content)
        return answer.headers.get("etag", "")

    async def _complete(self, key: str, full: str, mine: Query, tags: list[str]) -> None:
        rows = "".join(
            f"<Part><PartNumber>{number}</PartNumber><ETag>{escape(tag)}</ETag></Part>"
            for number, tag in enumerate(tags, start=1)
        )
        text = f"<CompleteMultipartUpload>{rows}</CompleteMultipartUpload>"
        answer = await self._bucket.asked("POST", full, mine, body=text.encode())
        # A storage may say yes first and find out later that it cannot.
        parse_page(self._place.shown(key), answer.body, "CompleteMultipartUploadResult", "")


async def _split_parts(pieces: AsyncIterator[bytes]) -> AsyncIterator[tuple[int, bytes]]:
    """Parts of the least size that is allowed, the last one excepted; one at least."""
    number, part = 1, bytearray()
    async for piece in pieces:
        part += piece
        while len(part) >= _PART:
            yield number, bytes(part[:_PART])
            del part[:_PART]
            number += 1
    if part or number == 1:
        yield number, bytes(part)
