"""`ObjectStore` over S3, with obstore and signed requests."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import httpx2

from stockman import __version__
from stockman.adapters import http, tls
from stockman.adapters.proxmox.endpoint import tls_context
from stockman.adapters.tls import AsyncCloseable
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
    "Connect": "connection failed",
    "Timeout": "it stopped responding",
    "Interrupted": "the connection was lost",
    "Request": "the connection was lost",
}
_UNTRUSTED = ("InvalidCertificate", "invalid peer certificate")


def store_error(shown: str, error: Exception, *, once: bool = False) -> StockmanError:
    """Translate an error of obstore. Its text is long and repeats the reply, so it is omitted."""
    message = str(error)
    status = _STATUS.search(message)
    if status is not None:
        return reply_error(shown, int(status[1]), message, once=once)
    if type(error).__name__ == "AlreadyExistsError":
        return conflict(shown, "it already exists")
    if any(sign in message for sign in _UNTRUSTED):
        return unreachable(shown, "its certificate is not trusted")
    kind = _KIND.search(message)
    if kind is None or kind[1] == "Decode":
        return unexpected_answer(shown, "its reply cannot be parsed")
    if kind[1] == "Connect":
        return unreachable(shown, _REASONS[kind[1]])
    return lost_reply(shown, _REASONS[kind[1]], once=once)


_MAX_BYTES = 32 << 20


class S3HttpTransport:
    """Sends signed requests; does not follow redirects, because a signature is for one host."""

    def __init__(self, trust: Trust, *, seconds: float) -> None:
        self._seconds = seconds
        self._client = http.create_client(
            tls_context(trust),
            httpx2.Timeout(seconds, connect=min(seconds, 10.0)),
            trust_env=True,
            headers={"Accept-Encoding": "identity"},
        )

    async def close(self) -> None:
        """Close all connections."""
        await self._client.aclose()

    async def send(self, request: S3Request) -> S3Reply:
        try:
            async with asyncio.timeout(self._seconds):
                return await self._answer(request)
        except TimeoutError:
            raise ReplyLost(f"no complete reply within {self._seconds:g} s") from None
        except http.CONNECT_ERRORS as error:
            flaw = tls.certificate_flaw(error)
            why = f"its certificate is not trusted: {flaw.verify_message}" if flaw else ""
            raise NotSent(why or tls.error_reason(error)) from None
        except httpx2.TransportError as error:
            raise ReplyLost(tls.error_reason(error)) from None

    async def _answer(self, request: S3Request) -> S3Reply:
        http_request = self._client.build_request(
            request.method,
            request.url,
            headers=dict(request.headers),
            content=request.body or None,
        )
        reply = await self._client.send(http_request, stream=True)
        try:
            body = await http.read_body(reply, _MAX_BYTES, ReplyLost)
        finally:
            await reply.aclose()
        return S3Reply(status=reply.status_code, headers=http.reply_headers(reply), body=body)


_CHUNK_SIZE = 1 << 20
_PARALLEL_PARTS = 4
"""Concurrent parts of an upload; each needs 5 MiB of memory."""
_LONGEST_REQUEST = timedelta(hours=6)
"""Timeout of a request that keeps receiving data."""


class S3Objects(AsyncCloseable):
    """`ObjectStore` over S3, to be closed after use.

    `seconds` limits the time without data. Requests are not repeated: the caller decides that.
    """

    def __init__(
        self,
        location: S3Location,
        credentials: S3Credentials,
        now: Callable[[], datetime],
        trust: Trust = Trust(),  # noqa: B008  # a frozen record
        *,
        seconds: float = 60.0,
    ) -> None:
        self._location = validate_location(location)
        self._transport = S3HttpTransport(trust, seconds=seconds)
        self._bucket = Bucket(self._transport, location, credentials, now)
        self._store = _open_store(location, credentials, trust, timedelta(seconds=seconds))

    async def close(self) -> None:
        await self._transport.close()

    async def put(self, key: str, chunks: AsyncIterator[bytes]) -> None:
        from obstore import put_async

        full = self._location.full_key(key)
        with self._translate_errors("PUT", full):
            await put_async(
                self._store, full, chunks, use_multipart=True, max_concurrency=_PARALLEL_PARTS
            )

    async def create(self, key: str, content: bytes) -> None:
        from obstore import put_async

        full = self._location.full_key(key)
        with self._translate_errors("PUT", full, once=True):
            await put_async(self._store, full, content, mode="create")

    async def read(self, key: str) -> AsyncIterator[bytes]:
        from obstore import get_async

        full = self._location.full_key(key)
        with self._translate_errors("GET", full):
            result = await get_async(self._store, full)
            async for chunk in result.stream(min_chunk_size=_CHUNK_SIZE):
                yield bytes(chunk)

    async def head(self, key: str) -> ObjectMetadata:
        from obstore import head_async

        full = self._location.full_key(key)
        with self._translate_errors("HEAD", full):
            return _metadata(key, await head_async(self._store, full))

    async def list_objects(self, folder: str = "") -> tuple[ObjectMetadata, ...]:
        from obstore import list as list_pages

        objects = []
        prefix = self._location.full_folder(folder)
        with self._translate_errors("GET", prefix):
            async for page in list_pages(self._store, prefix.rstrip("/") or None):
                for meta in page:
                    key = self._location.own_key(meta["path"])
                    if key is not None:
                        objects.append(_metadata(key, meta))
        return tuple(sorted(objects, key=lambda metadata: metadata.key))

    async def delete(self, key: str) -> None:
        from obstore import delete_async

        full = self._location.full_key(key)
        with self._translate_errors("DELETE", full), suppress(FileNotFoundError):
            await delete_async(self._store, full)

    async def list_uploads(self, folder: str = "") -> tuple[UnfinishedUpload, ...]:
        return await self._bucket.list_uploads(folder)

    async def abort_upload(self, upload: UnfinishedUpload) -> None:
        await self._bucket.abort_upload(upload)

    @contextmanager
    def _translate_errors(self, method: str, full: str, *, once: bool = False) -> Iterator[None]:
        from obstore.exceptions import BaseError

        try:
            yield
        except (BaseError, FileNotFoundError) as error:
            request = f"{method} s3://{self._location.bucket}/{full}".rstrip("/")
            raise store_error(request, error, once=once) from None


def _metadata(key: str, meta: ObjectMeta) -> ObjectMetadata:
    return ObjectMetadata(
        key=key,
        size=meta["size"],
        tag=(meta["e_tag"] or "").strip('"'),
        modified=meta["last_modified"].astimezone(UTC),
    )


def _open_store(
    location: S3Location, credentials: S3Credentials, trust: Trust, silence: timedelta
) -> S3Store:
    # obstore contains its own HTTP and TLS libraries, so it is imported only when needed.
    from obstore.store import S3Store

    options: ClientConfig = {
        "allow_http": location.is_plain,
        "connect_timeout": min(silence, timedelta(seconds=10)),
        "read_timeout": silence,
        "timeout": _LONGEST_REQUEST,
        "user_agent": f"stockman/{__version__}",
    }
    if trust.ca is not None:
        options["root_certificate"] = trust.ca
    config: S3Config = {
        "bucket": location.bucket,
        "endpoint": location.url if location.path_style else location.bucket_url(),
        "region": location.signed_region,
        "access_key_id": credentials.access_key.reveal(),
        "secret_access_key": credentials.secret_key.reveal(),
        "virtual_hosted_style_request": not location.path_style,
    }
    if credentials.session_token is not None:
        config["session_token"] = credentials.session_token.reveal()
    return S3Store(config=config, client_options=options, retry_config={"max_retries": 0})
