"""Object storage: a bucket, or a folder in one, for backups and locks."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Protocol

from stockman.model.record import record


@record
class ObjectMetadata:
    """Metadata of an object."""

    key: str
    size: int
    """Bytes."""
    tag: str
    """The ETag: changes with the content."""
    modified: datetime


@record
class UnfinishedUpload:
    """An unfinished multipart upload: it costs money, and is not in lists of objects."""

    key: str
    upload: str
    """The id of the upload."""
    started: datetime


class ObjectStore(Protocol):
    """Objects by key: letters, digits and `._=@+:-`, with single slashes as separators.

    Methods raise `NotFound` (object, upload or bucket), `Conflict` (it already exists), `Denied`
    (unknown key, no permission, or a wrong clock), `Busy` and `Unreachable` (safe to repeat),
    `Uncertain` (unknown outcome), `Rejected` (rejected, or an invalid reply) and `Refused`
    (invalid key).
    """

    async def put(self, key: str, pieces: AsyncIterator[bytes]) -> None:
        """Store content of any size from chunks; replaces an existing object.

        The object is created completely or not at all; a failed upload is aborted if possible.
        May be repeated.
        """
        ...

    async def create(self, key: str, content: bytes) -> None:
        """Create a small object; only one of several concurrent calls succeeds.

        Raises `Conflict` if it exists, and `Uncertain` if the outcome is unknown.
        """
        ...

    def read(self, key: str) -> AsyncIterator[bytes]:
        """Yield the content in chunks; raises `Unreachable` if it is incomplete."""
        ...

    async def head(self, key: str) -> ObjectMetadata:
        """Return the metadata of an object."""
        ...

    async def list_objects(self, folder: str = "") -> tuple[ObjectMetadata, ...]:
        """List the objects below a folder, sorted by key; without a folder all objects."""
        ...

    async def delete(self, key: str) -> None:
        """Delete an object; succeeds if it does not exist."""
        ...

    async def list_uploads(self, folder: str = "") -> tuple[UnfinishedUpload, ...]:
        """List the unfinished uploads below a folder."""
        ...

    async def abort_upload(self, upload: UnfinishedUpload) -> None:
        """Abort an upload with all its parts; succeeds if it does not exist."""
        ...
