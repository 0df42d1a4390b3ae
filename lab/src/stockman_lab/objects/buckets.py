"""Buckets at work: objects put, read, listed, copied, and uploaded in parts."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from stockman_lab.images.blobs import Blobs
from stockman_lab.objects.refusals import (
    ObjectsError,
    invalid,
    no_bucket,
    no_key,
    no_part,
    no_upload,
    precondition,
)
from stockman_lab.objects.state import Bucket, Multipart, ObjectsState, Part, StoredObject

_NAME = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_LEAST_PART = 5 << 20
_LARGEST = 5 << 30
_MOST_PARTS = 10_000
_LONGEST_KEY = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class NewObject:
    """What is to be stored."""

    content: bytes
    spoiled: bytes | None = None
    """What is kept instead, without anybody noticing. None: the content."""
    content_type: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    if_none_match: str = ""
    """`*`: only where there is none."""
    if_match: str = ""
    """Only over the object with this tag."""


@dataclass(slots=True, kw_only=True)
class Listing:
    """A page of a list."""

    objects: list[tuple[str, StoredObject]] = field(default_factory=list)
    prefixes: list[str] = field(default_factory=list)
    next: str = ""
    """Where the next page begins. Empty: this is the last one."""


class Buckets:
    """Everything that is done to buckets."""

    def __init__(self, state: ObjectsState, blobs: Blobs, now: Callable[[], float]) -> None:
        self.state = state
        self._blobs = blobs
        self._now = now

    # -- buckets -------------------------------------------------------------------------------

    def create(self, name: str) -> None:
        if not _NAME.fullmatch(name) or ".." in name:
            raise invalid(
                "The specified bucket is not valid.", "InvalidBucketName", BucketName=name
            )
        if name in self.state.buckets:
            raise ObjectsError(
                409,
                "BucketAlreadyOwnedByYou",
                "Your previous request to create the named bucket succeeded and you already own"
                " it.",
                BucketName=name,
            )
        self.state.buckets[name] = Bucket(self._now())

    def bucket(self, name: str) -> Bucket:
        bucket = self.state.buckets.get(name)
        if bucket is None:
            raise no_bucket(name)
        return bucket

    def remove(self, name: str) -> None:
        if self.bucket(name).objects:
            text = "The bucket you tried to delete is not empty."
            raise ObjectsError(409, "BucketNotEmpty", text, BucketName=name)
        for upload in list(self.bucket(name).uploads):
            self.abort(name, upload)
        del self.state.buckets[name]

    # -- objects -------------------------------------------------------------------------------

    def put(self, name: str, key: str, new: NewObject) -> StoredObject:
        bucket = self.bucket(name)
        _check_key(key)
        if len(new.content) > _LARGEST:
            raise invalid("Your proposed upload exceeds the maximum allowed size", "EntityTooLarge")
        self._check_conditions(bucket, key, new)
        etag = _md5(new.content)
        return self._store(bucket, key, self._kept(new), etag, new)

    def _check_conditions(self, bucket: Bucket, key: str, new: NewObject) -> None:
        there = bucket.objects.get(key)
        if new.if_none_match == "*" and there is not None:
            raise precondition("If-None-Match")
        if new.if_match:
            if there is None:
                raise no_key()
            if new.if_match.strip('"') not in ("*", there.etag):
                raise precondition("If-Match")

    def _store(
        self, bucket: Bucket, key: str, blob: str, etag: str, new: NewObject
    ) -> StoredObject:
        before = bucket.objects.get(key)
        stored_object = bucket.objects[key] = StoredObject(
            blob=blob,
            size=len(self._blobs.get(blob)),
            etag=etag,
            modified_at=self._now(),
            content_type=new.content_type or "binary/octet-stream",
            metadata=dict(new.metadata),
        )
        if before is not None:
            self._blobs.release(before.blob)
        return stored_object

    def _kept(self, new: NewObject) -> str:
        content = new.content if new.spoiled is None else new.spoiled
        if not content:
            return ""
        blob = self._blobs.put(content)
        self._blobs.hold(blob)
        return blob

    def found(self, name: str, key: str) -> StoredObject:
        stored_object = self.bucket(name).objects.get(key)
        if stored_object is None:
            raise no_key()
        return stored_object

    def content(self, stored_object: StoredObject) -> bytes:
        return self._blobs.get(stored_object.blob)

    def delete(self, name: str, key: str) -> None:
        """Take an object away; one that is not there is as good as gone."""
        gone = self.bucket(name).objects.pop(key, None)
        if gone is not None:
            self._blobs.release(gone.blob)

    def listed(self, name: str, *, prefix: str, delimiter: str, after: str, most: int) -> Listing:
        """Keys in order behind a key, those with a delimiter behind the prefix as one each."""
        page = Listing()
        if most == 0:
            return page
        count = 0
        for key in sorted(self.bucket(name).objects):
            if not key.startswith(prefix):
                continue
            common = _common(key, prefix, delimiter)
            place = common or key
            if place <= after or (common and after.startswith(common)):
                continue
            if common and page.prefixes and page.prefixes[-1] == common:
                continue
            if count == most:
                page.next = page.prefixes[-1] if _prefix_last(page) else page.objects[-1][0]
                return page
            count += 1
            if common:
                page.prefixes.append(common)
            else:
                page.objects.append((key, self.bucket(name).objects[key]))
        return page

    # -- uploads in parts ----------------------------------------------------------------------

    def begin(self, name: str, key: str, new: NewObject) -> str:
        bucket = self.bucket(name)
        _check_key(key)
        self.state.uploads_begun += 1
        number = f"{name}/{key}/{self.state.uploads_begun}"
        upload = hashlib.sha256(number.encode()).hexdigest()
        bucket.uploads[upload] = Multipart(
            key=key,
            started_at=self._now(),
            content_type=new.content_type,
            metadata=dict(new.metadata),
        )
        return upload

    def upload(self, name: str, upload: str, key: str) -> Multipart:
        multipart = self.bucket(name).uploads.get(upload)
        if multipart is None or multipart.key != key:
            raise no_upload(upload)
        return multipart

    def put_part(self, name: str, upload: str, key: str, number: int, new: NewObject) -> Part:
        found = self.upload(name, upload, key)
        if not 1 <= number <= _MOST_PARTS:
            raise invalid(
                "Part number must be an integer between 1 and 10000, inclusive.",
                ArgumentName="partNumber",
                ArgumentValue=str(number),
            )
        before = found.parts.get(number)
        part = found.parts[number] = Part(
            blob=self._kept(new),
            size=len(new.content),
            etag=_md5(new.content),
            modified_at=self._now(),
        )
        if before is not None:
            self._blobs.release(before.blob)
        return part

    def complete(
        self, name: str, upload: str, key: str, rows: list[tuple[int, str]], new: NewObject
    ) -> StoredObject:
        """Make an object of parts, in the order that is asked for."""
        found = self.upload(name, upload, key)
        bucket = self.bucket(name)
        self._check_conditions(bucket, key, new)
        if not rows or [one for one, _ in rows] != sorted({one for one, _ in rows}):
            raise invalid("The list of parts was not in ascending order.", "InvalidPartOrder")
        parts = []
        for place, (number, etag) in enumerate(rows):
            part = found.parts.get(number)
            if part is None:
                raise no_part(upload, number, etag)
            if part.etag != etag.strip('"'):
                raise no_part(upload, number, f'"{part.etag}"')
            if place < len(rows) - 1 and part.size < _LEAST_PART:
                raise invalid(
                    "Your proposed upload is smaller than the minimum allowed size",
                    "EntityTooSmall",
                    ProposedSize=str(part.size),
                    MinSizeAllowed=str(_LEAST_PART),
                )
            parts.append(part)
        content = b"".join(self._blobs.get(section.blob) for section in parts)
        tags = b"".join(bytes.fromhex(section.etag) for section in parts)
        etag = f"{_md5(tags)}-{len(parts)}"
        new_object = NewObject(
            content=content, content_type=found.content_type, metadata=found.metadata
        )
        stored = self._store(bucket, key, self._kept(new_object), etag, new_object)
        self.abort(name, upload)
        return stored

    def abort(self, name: str, upload: str) -> None:
        found = self.bucket(name).uploads.pop(upload, None)
        if found is None:
            raise no_upload(upload)
        for part in found.parts.values():
            self._blobs.release(part.blob)


def _check_key(key: str) -> None:
    if not key or len(key.encode()) > _LONGEST_KEY:
        raise invalid("Your key is too long", "KeyTooLongError")


def _common(key: str, prefix: str, delimiter: str) -> str:
    if not delimiter:
        return ""
    rest = key[len(prefix) :]
    head, found, _ = rest.partition(delimiter)
    return f"{prefix}{head}{delimiter}" if found else ""


def _prefix_last(page: Listing) -> bool:
    if not page.prefixes:
        return False
    return not page.objects or page.prefixes[-1] > page.objects[-1][0]


def _md5(content: bytes) -> str:
    return hashlib.md5(content, usedforsecurity=False).hexdigest()
