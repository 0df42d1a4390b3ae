"""`ports.Objects` over S3: streams by obstore, uploads in parts by signed requests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from stockman import __version__
from stockman.adapters.closing import Closing
from stockman.adapters.s3_objects.failures import failure
from stockman.adapters.s3_objects.wire import HttpObjectsWire
from stockman.ports.objects import ObjectFacts, UnfinishedUpload
from stockman.ports.probe import Trust
from stockman.s3.asking import Bucket
from stockman.s3.credentials import S3Credentials
from stockman.s3.places import S3Place, checked

if TYPE_CHECKING:
    from obstore import ObjectMeta
    from obstore.store import ClientConfig, S3Config, S3Store

_PIECE = 1 << 20
_AT_ONCE = 4
"""Parts of one upload that are on their way; each is 5 MiB of memory."""
_LONGEST = timedelta(hours=6)
"""What one request may take while it is not silent."""


class S3Objects(Closing):
    """`ports.Objects` over S3, to be closed after use.

    `seconds` is for how long it may be silent. Nothing is repeated here: whoever asks knows
    whether that is right.
    """

    def __init__(
        self,
        place: S3Place,
        credentials: S3Credentials,
        now: Callable[[], datetime],
        trust: Trust = Trust(),  # noqa: B008  # a record never changes
        *,
        seconds: float = 60.0,
    ) -> None:
        self._place = checked(place)
        self._wire = HttpObjectsWire(trust, seconds=seconds)
        self._bucket = Bucket(self._wire, place, credentials, now)
        self._store = _store(place, credentials, trust, timedelta(seconds=seconds))

    async def close(self) -> None:
        await self._wire.close()

    async def put(self, key: str, pieces: AsyncIterator[bytes]) -> None:
        from obstore import put_async

        full = self._place.full_key(key)
        with self._told("PUT", full):
            await put_async(self._store, full, pieces, use_multipart=True, max_concurrency=_AT_ONCE)

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

    async def head(self, key: str) -> ObjectFacts:
        from obstore import head_async

        full = self._place.full_key(key)
        with self._told("HEAD", full):
            return _facts(key, await head_async(self._store, full))

    async def listed(self, folder: str = "") -> tuple[ObjectFacts, ...]:
        from obstore import list as listed

        found = []
        prefix = self._place.full_folder(folder)
        with self._told("GET", prefix):
            async for page in listed(self._store, prefix.rstrip("/") or None):
                for meta in page:
                    key = self._place.own_key(meta["path"])
                    if key is not None:
                        found.append(_facts(key, meta))
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
            raise failure(shown, error, once=once) from None


def _facts(key: str, meta: ObjectMeta) -> ObjectFacts:
    return ObjectFacts(
        key=key,
        size=meta["size"],
        tag=(meta["e_tag"] or "").strip('"'),
        modified=meta["last_modified"].astimezone(UTC),
    )


def _store(place: S3Place, credentials: S3Credentials, trust: Trust, silence: timedelta) -> S3Store:
    # It brings its own HTTP and TLS along, so it is loaded only by who needs it.
    from obstore.store import S3Store

    options: ClientConfig = {
        "allow_http": place.is_plain,
        "connect_timeout": min(silence, timedelta(seconds=10)),
        "read_timeout": silence,
        "timeout": _LONGEST,
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
