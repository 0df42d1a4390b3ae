"""Archives: large objects that exist only when they are complete.

The content is uploaded to a temporary key, read back and compared. Only then a small manifest with
the key, size and checksum of the content is created; of two archives with the same name only one is
created. Content that an interrupted run leaves behind has no manifest.
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
_CONTENT = "parts"
_VERSION = 1
_LARGEST_MANIFEST = 64 << 10


@record
class Archive:
    """A complete archive."""

    name: str
    content_key: str
    """Key of the content."""
    size: int
    sha256: str
    created: datetime | None = None
    """None: just created, the time of the storage is unknown."""


async def store_archive(
    objects: ObjectStore, name: str, chunks: AsyncIterator[bytes], tag: str
) -> Archive:
    """Store an archive; raises `Conflict` if the name exists.

    `tag` is a random text that distinguishes attempts. The content of a failed attempt is deleted.
    """
    content_key = validate_key(f"{name}.{_CONTENT}/{tag}")
    reader = _HashingReader(chunks)
    await objects.put(content_key, reader.chunks())
    archive = Archive(
        name=name, content_key=content_key, size=reader.size, sha256=reader.sha256.hexdigest()
    )
    try:
        async for _ in read_archive(objects, archive):
            continue
        await _create_manifest(objects, archive)
    except Uncertain:
        raise  # the manifest may exist: deleting the content would break the archive
    except BaseException:
        with suppress(StockmanError):
            await objects.delete(content_key)
        raise
    return archive


async def list_archives(objects: ObjectStore, folder: str = "") -> tuple[Archive, ...]:
    """List the complete archives below a folder, sorted by name."""
    listing = await objects.list_objects(folder)
    sizes = {entry.key: entry for entry in listing}
    manifests = [entry for entry in listing if entry.key.endswith(MANIFEST)]
    archives = [await _read_manifest(objects, entry) for entry in manifests]
    return tuple(entry for entry in archives if entry.content_key in sizes)


async def list_leftovers(objects: ObjectStore, folder: str = "") -> tuple[ObjectMetadata, ...]:
    """List content without a manifest: of running or failed attempts."""
    listing = await objects.list_objects(folder)
    manifests = [entry for entry in listing if entry.key.endswith(MANIFEST)]
    known = {(await _read_manifest(objects, entry)).content_key for entry in manifests}
    return tuple(
        entry for entry in listing if f".{_CONTENT}/" in entry.key and entry.key not in known
    )


async def read_archive(objects: ObjectStore, archive: Archive) -> AsyncIterator[bytes]:
    """Yield the content in chunks; raises `Rejected` at the end if it differs from the manifest."""
    reader = _HashingReader(objects.read(archive.content_key))
    async for chunk in reader.chunks():
        yield chunk
    if reader.size != archive.size:
        why = f"it has {reader.size} bytes instead of {archive.size}"
        raise content_mismatch(archive.content_key, why)
    if reader.sha256.hexdigest() != archive.sha256:
        raise content_mismatch(archive.content_key, "SHA-256 mismatch")


async def delete_archive(objects: ObjectStore, archive: Archive) -> None:
    """Delete an archive, its manifest first."""
    await objects.delete(f"{archive.name}{MANIFEST}")
    await objects.delete(archive.content_key)


async def _create_manifest(objects: ObjectStore, archive: Archive) -> None:
    text = json.dumps(
        {
            "version": _VERSION,
            "content": archive.content_key,
            "size": archive.size,
            "sha256": archive.sha256,
        }
    ).encode()
    key = f"{archive.name}{MANIFEST}"
    try:
        await objects.create(key, text)
    except Uncertain:
        existing = b"".join([chunk async for chunk in objects.read(key)])
        if existing != text:
            raise conflict(key, "another manifest exists") from None


async def _read_manifest(objects: ObjectStore, metadata: ObjectMetadata) -> Archive:
    if metadata.size > _LARGEST_MANIFEST:
        raise unexpected_answer(metadata.key, "this is not a valid manifest")
    content = b"".join([chunk async for chunk in objects.read(metadata.key)])
    try:
        manifest = json.loads(content)
        return Archive(
            name=metadata.key.removesuffix(MANIFEST),
            content_key=validate_key(str(manifest["content"])),
            size=int(manifest["size"]),
            sha256=str(manifest["sha256"]),
            created=metadata.modified,
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        raise unexpected_answer(metadata.key, "this is not a valid manifest") from None


class _HashingReader:
    """Counts and hashes chunks while they are read."""

    def __init__(self, chunks: AsyncIterator[bytes]) -> None:
        self._chunks = chunks
        self.size = 0
        self.sha256 = hashlib.sha256()

    async def chunks(self) -> AsyncIterator[bytes]:
        async for chunk in self._chunks:
            self.size += len(chunk)
            self.sha256.update(chunk)
            yield chunk
