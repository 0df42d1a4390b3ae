"""Signed requests to one bucket."""

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
    """Sends signed requests to one bucket."""

    def __init__(
        self,
        transport: Transport,
        location: S3Location,
        credentials: S3Credentials,
        now: Callable[[], datetime],
    ) -> None:
        self._transport = transport
        self.location = location
        self._credentials = credentials
        self._now = now

    async def send(  # noqa: PLR0913  # what a request is made of, each by its name
        self,
        method: str,
        full_key: str = "",
        query: Query = (),
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
        once: bool = False,
    ) -> S3Reply:
        """Send a request and return a successful reply. `once`: it must not be repeated."""
        where = f"s3://{self.location.bucket}/{full_key}".rstrip("/")
        request = UnsignedRequest(
            method=method,
            url=self.location.object_url(full_key) if full_key else self.location.bucket_url(),
            shown=f"{method} {where}",
            query=query,
            headers=headers or {},
            body=body,
        )
        signed = sign_request(request, self._credentials, self.location.signed_region, self._now())
        try:
            reply = await self._transport.send(signed)
        except NotSent as error:
            raise unreachable(signed.shown, str(error)) from error
        except ReplyLost as error:
            raise lost_reply(signed.shown, str(error), once=once) from error
        if reply.status < HTTPStatus.MULTIPLE_CHOICES:
            return reply
        text = reply.body[:4096].decode("utf-8", "replace")
        raise reply_error(signed.shown, reply.status, text, once=once)

    async def list_uploads(self, folder: str) -> tuple[UnfinishedUpload, ...]:
        """List the unfinished uploads below a folder."""
        uploads = []
        async for row, page in self._uploads(self.location.full_folder(folder)):
            key = self.location.own_key(object_key(row, page))
            if key is not None:
                started = parse_timestamp(self.location.shown(), row.text("Initiated"))
                upload = UnfinishedUpload(key=key, upload=row.text("UploadId"), started=started)
                uploads.append(upload)
        return tuple(
            sorted(uploads, key=lambda upload: (upload.key, upload.started, upload.upload))
        )

    async def abort_upload(self, upload: UnfinishedUpload) -> None:
        """Abort an upload."""
        key = self.location.full_key(upload.key)
        with suppress(NotFound):
            await self.send("DELETE", key, (("uploadId", upload.upload),))

    async def _uploads(self, folder: str) -> AsyncIterator[tuple[XmlRow, XmlPage]]:
        query: Query = (("encoding-type", "url"), ("prefix", folder), ("uploads", ""))
        markers: Query = ()
        while True:
            reply = await self.send("GET", "", query + markers)
            page = parse_page(
                self.location.shown(), reply.body, "ListMultipartUploadsResult", "Upload"
            )
            for row in page.rows:
                yield row, page
            following: Query = (
                ("key-marker", page.members.get("NextKeyMarker", "")),
                ("upload-id-marker", page.members.get("NextUploadIdMarker", "")),
            )
            if not page.is_truncated:
                return
            if following == markers or not following[0][1]:
                raise unexpected_answer(self.location.shown(), "its list does not end")
            markers = following
