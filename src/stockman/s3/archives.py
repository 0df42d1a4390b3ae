"""Large objects that count only when they are whole.

The bytes go to a key that nobody looks for. They are read back and compared, and only then a small
manifest is created that says where they are and what they have to be; of two with the same name
only one is created. Whatever an interrupted run leaves has no manifest, and is found by that.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import datetime

from stockman.model.errors import StockmanError, Uncertain
from stockman.model.record import record
from stockman.ports.objects import ObjectMetadata, ObjectStore
from stockman.s3.errors import conflict, content_mismatch, unexpected_answer
from stockman.s3.location import validate_key

MANIFEST = ".manifest.json"
_PARTS = "parts"
_VERSION = 1
_LARGEST_MANIFEST = 64 << 10


@record
class Archive:
    """A large object that is whole."""

    name: str
    content_key: str
    """Where its bytes are."""
    size: int
    sha256: str
    made: datetime | None = None
    """None: just now, nobody asked the storage."""


async def store_archive(
    objects: ObjectStore, name: str, pieces: AsyncIterator[bytes], tag: str
) -> Archive:
    """Store a large object under a name; `Conflict` where there is one of that name.

    `tag` tells attempts apart: random letters. What cannot be finished is taken away again.
    """
    content_key = validate_key(f"{name}.{_PARTS}/{tag}")
    counted = _HashingReader(pieces)
    await objects.put(content_key, counted.pieces())
    made = Archive(
        name=name, content_key=content_key, size=counted.size, sha256=counted.sha256.hexdigest()
    )
    try:
        async for _ in read_archive(objects, made):
            continue
        await _create_manifest(objects, made)
    except Uncertain:
        raise  # it may count: taking its bytes away would break it
    except BaseException:
        with suppress(StockmanError):
            await objects.delete(content_key)
        raise
    return made


async def list_archives(objects: ObjectStore, folder: str = "") -> tuple[Archive, ...]:
    """All that are whole, below a folder, in the order of their names."""
    found = await objects.listed(folder)
    sizes = {one.key: one for one in found}
    manifests = [one for one in found if one.key.endswith(MANIFEST)]
    read = [await _read_manifest(objects, one) for one in manifests]
    return tuple(one for one in read if one.content_key in sizes)


async def list_leftovers(objects: ObjectStore, folder: str = "") -> tuple[ObjectMetadata, ...]:
    """Contents below a folder that no manifest names: of attempts that run, or that died."""
    found = await objects.listed(folder)
    manifests = [one for one in found if one.key.endswith(MANIFEST)]
    known = {(await _read_manifest(objects, one)).content_key for one in manifests}
    return tuple(one for one in found if f".{_PARTS}/" in one.key and one.key not in known)


async def read_archive(objects: ObjectStore, wanted: Archive) -> AsyncIterator[bytes]:
    """A content piece by piece; `Rejected` at its end where it is not the one that was stored."""
    counted = _HashingReader(objects.read(wanted.content_key))
    async for piece in counted.pieces():
        yield piece
    if counted.size != wanted.size:
        why = f"it has {counted.size} bytes instead of {wanted.size}"
        raise content_mismatch(wanted.content_key, why)
    if counted.sha256.hexdigest() != wanted.sha256:
        raise content_mismatch(wanted.content_key, "its SHA-256 is another")


async def delete_archive(objects: ObjectStore, one: Archive) -> None:
    """Take a deposit away: it stops to count first."""
    await objects.delete(f"{one.name}{MANIFEST}")
    await objects.delete(one.content_key)


async def _create_manifest(objects: ObjectStore, made: Archive) -> None:
    text = json.dumps(
        {
            "version": _VERSION,
            "content": made.content_key,
            "size": made.size,
            "sha256": made.sha256,
        }
    ).encode()
    key = f"{made.name}{MANIFEST}"
    try:
        await objects.create(key, text)
    except Uncertain:
        there = b"".join([piece async for piece in objects.read(key)])
        if there != text:
            raise conflict(key, "somebody else's manifest is there") from None


async def _read_manifest(objects: ObjectStore, facts: ObjectMetadata) -> Archive:
    if facts.size > _LARGEST_MANIFEST:
        raise unexpected_answer(facts.key, "this is no manifest of ours")
    content = b"".join([piece async for piece in objects.read(facts.key)])
    try:
        told = json.loads(content)
        return Archive(
            name=facts.key.removesuffix(MANIFEST),
            content_key=validate_key(str(told["content"])),
            size=int(told["size"]),
            sha256=str(told["sha256"]),
            made=facts.modified,
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        raise unexpected_answer(facts.key, "this is no manifest of ours") from None


class _HashingReader:
    """Pieces on their way, counted and summed up."""

    def __init__(self, pieces: AsyncIterator[bytes]) -> None:
        self._pieces = pieces
        self.size = 0
        self.sha256 = hashlib.sha256()

    async def pieces(self) -> AsyncIterator[bytes]:
        async for piece in self._pieces:
            self.size += len(piece)
            self.sha256.update(piece)
            yield piece
