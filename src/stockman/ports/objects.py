"""Object storage: one bucket, or a folder of one, that backups and locks live in."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Protocol

from stockman.model.record import record


@record
class ObjectMetadata:
    """What a storage says of an object without sending it."""

    key: str
    size: int
    """Bytes."""
    tag: str
    """Changes with the content; says nothing else."""
    modified: datetime


@record
class UnfinishedUpload:
    """An upload in parts that nobody finished: it costs money, and no list of objects shows it."""

    key: str
    upload: str
    """Its id."""
    started: datetime


class ObjectStore(Protocol):
    """Objects by key: parts of letters, digits and `._=@+:-`, with single slashes between.

    `NotFound`: there is no such object, upload or bucket. `Conflict`: it exists already. `Denied`:
    the key is not known, not allowed to, or our clock is wrong. `Busy`, `Unreachable`: nobody
    answered, or said that it cannot; safe to repeat. `Uncertain`: it may have been done.
    `Rejected`: refused, or answered in a way that cannot be right. `Refused`: no key of an object.
    """

    async def put(self, key: str, pieces: AsyncIterator[bytes]) -> None:
        """Store a content of any size, piece by piece; one that is there is replaced.

        Either all of it is there afterwards or none; what was begun is given up where it can be.
        May be repeated.
        """
        ...

    async def create(self, key: str, content: bytes) -> None:
        """Store something small where there is nothing yet; of several only one succeeds.

        `Conflict`: there is something. `Uncertain`: look what is there, it may be ours.
        """
        ...

    def read(self, key: str) -> AsyncIterator[bytes]:
        """A content piece by piece, never all of it at once; `Unreachable` where it ends early."""
        ...

    async def head(self, key: str) -> ObjectMetadata:
        """What there is at a key."""
        ...

    async def listed(self, folder: str = "") -> tuple[ObjectMetadata, ...]:
        """All objects below a folder, in the order of their keys; all of them for the empty one."""
        ...

    async def delete(self, key: str) -> None:
        """Take an object away; one that is not there is as good as gone."""
        ...

    async def unfinished(self, folder: str = "") -> tuple[UnfinishedUpload, ...]:
        """Uploads below a folder that were begun and neither finished nor given up."""
        ...

    async def abort(self, upload: UnfinishedUpload) -> None:
        """Give an upload up with all its parts; one that is not there is as good as gone."""
        ...
