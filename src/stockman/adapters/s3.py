"""Errors of the library for objects, in our words."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import httpx2

from stockman import __version__
from stockman.adapters.closing import AsyncCloseable
from stockman.adapters.proxmox.endpoint import tls_context
from stockman.adapters.proxmox.errors import certificate_flaw, error_reason
from stockman.model.errors import StockmanError
from stockman.ports.environment import Trust
from stockman.ports.objects import ObjectMetadata, UnfinishedUpload
from stockman.s3.bucket import Bucket
from stockman.s3.credentials import S3Credentials
from stockman.s3.errors import conflict, lost_reply, reply_error, unexpected_answer, unreachable
from stockman.s3.location import S3Location, validate_location
from stockman.s3.transport import NotSent, ReplyLost, S3Reply, S3Request

if TYPE_CHECKING:
    from obstore import ObjectMeta
    from obstore.store import ClientConfig, S3Config, S3Store


_STATUS = re.compile(r"status code: (\d{3})")
_KIND = re.compile(r"kind: (Connect|Timeout|Interrupted|Request|Decode)\b")
_REASONS = {
    "Connect": "no connection to it",
    "Timeout": "it fell silent",
    "Interrupted": "the connection was cut",
    "Request": "the connection was cut",
}
_UNTRUSTED = ("InvalidCertificate", "invalid peer certificate")


def store_error(shown: str, error: Exception, *, once: bool = False) -> StockmanError:
    """What an error means. Its own text is long, and repeats what the storage sent: left out."""
    told = str(error)
    status = _STATUS.search(told)
    if status is not None:
        return reply_error(shown, int(status[1]), told, once=once)
    if type(error).__name__ == "AlreadyExistsError":
        return conflict(shown, "it is there already")
    if any(sign in told for sign in _UNTRUSTED):
        return unreachable(shown, "its certificate is not trusted")
    kind = _KIND.search(told)
    if kind is None or kind[1] == "Decode":
        return unexpected_answer(shown, "its answer makes no sense")
    if kind[1] == "Connect":
        return unreachable(shown, _REASONS[kind[1]])
    return lost_reply(shown, _REASONS[kind[1]], once=once)


_NOISY_LOGGERS = ("httpx2", "httpcore2")
_MAX_BYTES = 32 << 20
_CONNECT_ERRORS = (httpx2.ConnectError, httpx2.ConnectTimeout)


class S3HttpTransport:
    """Carries signed requests; follows no redirect, since a signature is for one host."""

    def __init__(self, trust: Trust, *, seconds: float) -> None:
        self._seconds = seconds
        for name in _NOISY_LOGGERS:
            logging.getLogger(name).setLevel(logging.WARNING)
        self._client = httpx2.AsyncClient(
            verify=tls_context(trust),
            follow_redirects=False,
            timeout=httpx2.Timeout(seconds, connect=min(seconds, 10.0)),
            headers={"User-Agent": f"stockman/{__version__}", "Accept-Encoding": "identity"},
        )

    async def close(self) -> None:
        """Close all connections."""
        await self._client.aclose()

    async def ask(self, question: S3Request) -> S3Reply:
        try:
            async with asyncio.timeout(self._seconds):
                return await self._answer(question)
        except TimeoutError:
            raise ReplyLost(f"no full answer within {self._seconds:g} s") from None
        except _CONNECT_ERRORS as error:
            flaw = certificate_flaw(error)
            why = f"its certificate is not trusted: {flaw.verify_message}" if flaw else ""
            raise NotSent(why or error_reason(error)) from None
        except httpx2.TransportError as error:
            raise ReplyLost(error_reason(error)) from None

    async def _answer(self, question: S3Request) -> S3Reply:
        request = self._client.build_request(
            question.method,
            question.url,
            headers=dict(question.headers),
            content=question.body or None,
        )
        reply = await self._client.send(request, stream=True)
        try:
            body = bytearray()
            async for piece in reply.aiter_bytes():
                body += piece
                if len(body) > _MAX_BYTES:
                    raise ReplyLost(f"its answer is over {_MAX_BYTES >> 20} MiB")
        finally:
            await reply.aclose()
        headers = {name.lower(): value for name, value in reply.headers.items()}
        return S3Reply(status=reply.status_code, headers=headers, body=bytes(body))


_PIECE = 1 << 20
_PARALLEL_PARTS = 4
"""Parts of one upload that are on their way; each is 5 MiB of memory."""
_LONGEST_REQUEST = timedelta(hours=6)
"""What one request may take while it is not silent."""


class S3Objects(AsyncCloseable):
    """`ports.Objects` over S3, to be closed after use.

    `seconds` is for how long it may be silent. Nothing is repeated here: whoever asks knows
    whether that is right.
    """

    def __init__(
        self,
        place: S3Location,
        credentials: S3Credentials,
        now: Callable[[], datetime],
        trust: Trust = Trust(),  # noqa: B008  # a record never changes
        *,
        seconds: float = 60.0,
    ) -> None:
        self._place = validate_location(place)
        self._wire = S3HttpTransport(trust, seconds=seconds)
        self._bucket = Bucket(self._wire, place, credentials, now)
        self._store = _open_store(place, credentials, trust, timedelta(seconds=seconds))

    async def close(self) -> None:
        await self._wire.close()

    async def put(self, key: str, pieces: AsyncIterator[bytes]) -> None:
        from obstore import put_async

        full = self._place.full_key(key)
        with self._told("PUT", full):
            await put_async(
                self._store, full, pieces, use_multipart=True, max_concurrency=_PARALLEL_PARTS
            )

    async def create(self, key: str, content: bytes) -> None:
        from obstore import put_async

        full = self._place.full_key(key)
        with self._told("PUT", full, once=True):
            await put_async(self._store, full, content, mode="create")

    async def read(self, key: str) -> AsyncIterator[bytes]:
        from obstore import get_async

        full = self._place.full_key(key)
        with self._told("GET", full):
            found = await get_async(self._store, full)
            async for piece in found.stream(min_chunk_size=_PIECE):
                yield bytes(piece)

    async def head(self, key: str) -> ObjectMetadata:
        from obstore import head_async

        full = self._place.full_key(key)
        with self._told("HEAD", full):
            return _metadata(key, await head_async(self._store, full))

    async def listed(self, folder: str = "") -> tuple[ObjectMetadata, ...]:
        from obstore import list as listed

        found = []
        prefix = self._place.full_folder(folder)
        with self._told("GET", prefix):
            async for page in listed(self._store, prefix.rstrip("/") or None):
                for meta in page:
                    key = self._place.own_key(meta["path"])
                    if key is not None:
                        found.append(_metadata(key, meta))
        return tuple(sorted(found, key=lambda one: one.key))

    async def delete(self, key: str) -> None:
        from obstore import delete_async

        full = self._place.full_key(key)
        with self._told("DELETE", full), suppress(FileNotFoundError):
            await delete_async(self._store, full)

    async def unfinished(self, folder: str = "") -> tuple[UnfinishedUpload, ...]:
        return await self._bucket.unfinished(folder)

    async def abort(self, upload: UnfinishedUpload) -> None:
        await self._bucket.abort(upload)

    @contextmanager
    def _told(self, method: str, full: str, *, once: bool = False) -> Iterator[None]:
        from obstore.exceptions import BaseError

        try:
            yield
        except (BaseError, FileNotFoundError) as error:
            shown = f"{method} s3://{self._place.bucket}/{full}".rstrip("/")
            raise store_error(shown, error, once=once) from None


def _metadata(key: str, meta: ObjectMeta) -> ObjectMetadata:
    return ObjectMetadata(
        key=key,
        size=meta["size"],
        tag=(meta["e_tag"] or "").strip('"'),
        modified=meta["last_modified"].astimezone(UTC),
    )


def _open_store(
    place: S3Location, credentials: S3Credentials, trust: Trust, silence: timedelta
) -> S3Store:
    # It brings its own HTTP and TLS along, so it is loaded only by who needs it.
    from obstore.store import S3Store

    options: ClientConfig = {
        "allow_http": place.is_plain,
        "connect_timeout": min(silence, timedelta(seconds=10)),
        "read_timeout": silence,
        "timeout": _LONGEST_REQUEST,
        "user_agent": f"stockman/{__version__}",
    }
    if trust.ca is not None:
        options["root_certificate"] = trust.ca
    config: S3Config = {
        "bucket": place.bucket,
        "endpoint": place.url if place.path_style else place.bucket_url(),
        "region": place.signed_region,
        "access_key_id": credentials.access_key.reveal(),
        "secret_access_key": credentials.secret_key.reveal(),
        "virtual_hosted_style_request": not place.path_style,
    }
    if credentials.session_token is not None:
        config["session_token"] = credentials.session_token.reveal()
    return S3Store(config=config, client_options=options, retry_config={"max_retries": 0})
