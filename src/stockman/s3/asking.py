"""Signed requests to one bucket, and their answers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from datetime import datetime
from http import HTTPStatus

from stockman.model.errors import NotFound
from stockman.ports.objects import UnfinishedUpload
from stockman.s3.credentials import Request, S3Credentials, signed
from stockman.s3.documents import Page, Row, key_of, moment, page
from stockman.s3.places import S3Place
from stockman.s3.refusals import lost, odd_answer, refusal, unreachable
from stockman.s3.wire import Answer, Lost, NotAsked, Wire

Query = tuple[tuple[str, str], ...]


class Bucket:
    """Asks for one bucket over a wire."""

    def __init__(
        self,
        wire: Wire,
        place: S3Place,
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
    ) -> Answer:
        """An answer that is a yes; raises what others mean. `once`: it must not be done twice."""
        where = f"s3://{self.place.bucket}/{full_key}".rstrip("/")
        request = Request(
            method=method,
            url=self.place.object_url(full_key) if full_key else self.place.bucket_url(),
            shown=f"{method} {where}",
            query=query,
            headers=headers or {},
            body=body,
        )
        question = signed(request, self._credentials, self.place.signed_region, self._now())
        try:
            answer = await self._wire.ask(question)
        except NotAsked as error:
            raise unreachable(question.shown, str(error)) from error
        except Lost as error:
            raise lost(question.shown, str(error), once=once) from error
        if answer.status < HTTPStatus.MULTIPLE_CHOICES:
            return answer
        told = answer.body[:4096].decode("utf-8", "replace")
        raise refusal(question.shown, answer.status, told, once=once)

    async def unfinished(self, folder: str) -> tuple[UnfinishedUpload, ...]:
        """Uploads below a folder that nobody finished."""
        found = []
        async for row, listed in self._uploads(self.place.full_folder(folder)):
            key = self.place.own_key(key_of(row, listed))
            if key is not None:
                started = moment(self.place.shown(), row.text("Initiated"))
                upload = UnfinishedUpload(key=key, upload=row.text("UploadId"), started=started)
                found.append(upload)
        return tuple(sorted(found, key=lambda one: (one.key, one.started, one.upload)))

    async def abort(self, upload: UnfinishedUpload) -> None:
        """Give an upload up."""
        key = self.place.full_key(upload.key)
        with suppress(NotFound):
            await self.asked("DELETE", key, (("uploadId", upload.upload),))

    async def _uploads(self, folder: str) -> AsyncIterator[tuple[Row, Page]]:
        query: Query = (("encoding-type", "url"), ("prefix", folder), ("uploads", ""))
        markers: Query = ()
        while True:
            answer = await self.asked("GET", "", query + markers)
            listed = page(self.place.shown(), answer.body, "ListMultipartUploadsResult", "Upload")
            for row in listed.rows:
                yield row, listed
            following: Query = (
                ("key-marker", listed.members.get("NextKeyMarker", "")),
                ("upload-id-marker", listed.members.get("NextUploadIdMarker", "")),
            )
            if not listed.is_truncated:
                return
            if following == markers or not following[0][1]:
                raise odd_answer(self.place.shown(), "its list has no end")
            markers = following
