"""Signed requests to one bucket, and their answers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from datetime import datetime
from http import HTTPStatus

from stockman.model.errors import NotFound
from stockman.ports.objects import UnfinishedUpload
from stockman.s3.credentials import S3Credentials, UnsignedRequest, sign_request
from stockman.s3.errors import lost_reply, reply_error, unexpected_answer, unreachable
from stockman.s3.location import S3Location
from stockman.s3.transport import NotSent, ReplyLost, S3Reply, Transport
from stockman.s3.xml import XmlPage, XmlRow, object_key, parse_page, parse_timestamp

Query = tuple[tuple[str, str], ...]


class Bucket:
    """Asks for one bucket over a wire."""

    def __init__(
        self,
        wire: Transport,
        place: S3Location,
        credentials: S3Credentials,
        now: Callable[[], datetime],
    ) -> None:
        self._wire = wire
        self.place = place
        self._credentials = credentials
        self._now = now

    async def asked(  # noqa: PLR0913  # what a request is made of, each by its name
        self,
        method: str,
        full_key: str = "",
        query: Query = (),
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
        once: bool = False,
    ) -> S3Reply:
        """An answer that is a yes; raises what others mean. `once`: it must not be done twice."""
        where = f"s3://{self.place.bucket}/{full_key}".rstrip("/")
        request = UnsignedRequest(
            method=method,
            url=self.place.object_url(full_key) if full_key else self.place.bucket_url(),
            shown=f"{method} {where}",
            query=query,
            headers=headers or {},
            body=body,
        )
        question = sign_request(request, self._credentials, self.place.signed_region, self._now())
        try:
            answer = await self._wire.ask(question)
        except NotSent as error:
            raise unreachable(question.shown, str(error)) from error
        except ReplyLost as error:
            raise lost_reply(question.shown, str(error), once=once) from error
        if answer.status < HTTPStatus.MULTIPLE_CHOICES:
            return answer
        told = answer.body[:4096].decode("utf-8", "replace")
        raise reply_error(question.shown, answer.status, told, once=once)

    async def unfinished(self, folder: str) -> tuple[UnfinishedUpload, ...]:
        """Uploads below a folder that nobody finished."""
        found = []
        async for row, listed in self._uploads(self.place.full_folder(folder)):
            key = self.place.own_key(object_key(row, listed))
            if key is not None:
                started = parse_timestamp(self.place.shown(), row.text("Initiated"))
                upload = UnfinishedUpload(key=key, upload=row.text("UploadId"), started=started)
                found.append(upload)
        return tuple(sorted(found, key=lambda one: (one.key, one.started, one.upload)))

    async def abort(self, upload: UnfinishedUpload) -> None:
        """Give an upload up."""
        key = self.place.full_key(upload.key)
        with suppress(NotFound):
            await self.asked("DELETE", key, (("uploadId", upload.upload),))

    async def _uploads(self, folder: str) -> AsyncIterator[tuple[XmlRow, XmlPage]]:
        query: Query = (("encoding-type", "url"), ("prefix", folder), ("uploads", ""))
        markers: Query = ()
        while True:
            answer = await self.asked("GET", "", query + markers)
            listed = parse_page(
                self.place.shown(), answer.body, "ListMultipartUploadsResult", "Upload"
            )
            for row in listed.rows:
                yield row, listed
            following: Query = (
                ("key-marker", listed.members.get("NextKeyMarker", "")),
                ("upload-id-marker", listed.members.get("NextUploadIdMarker", "")),
            )
            if not listed.is_truncated:
                return
            if following == markers or not following[0][1]:
                raise unexpected_answer(self.place.shown(), "its list has no end")
            markers = following
