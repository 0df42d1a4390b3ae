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
from stockman.ports.objects import ObjectFacts, Objects
from stockman.s3.places import checked_key
from stockman.s3.refusals import conflict, odd_answer, other_content

MANIFEST = ".manifest.json"
_PARTS = "parts"
_VERSION = 1
_LARGEST_MANIFEST = 64 << 10


@record
class Deposit:
    """A large object that is whole."""

    name: str
    content_key: str
    """Where its bytes are."""
    size: int
    sha256: str
    made: datetime | None = None
    """None: just now, nobody asked the storage."""


async def deposit(objects: Objects, name: str, pieces: AsyncIterator[bytes], tag: str) -> Deposit:
    """Store a large object under a name; `Conflict` where there is one of that name.

    `tag` tells attempts apart: random letters. What cannot be finished is taken away again.
    """
    content_key = checked_key(f"{name}.{_PARTS}/{tag}")
    counted = _Counted(pieces)
    await objects.put(content_key, counted.pieces())
    made = Deposit(
        name=name, content_key=content_key, size=counted.size, sha256=counted.sha256.hexdigest()
    )
    try:
        async for _ in read_deposit(objects, made):
            continue
        await _create(objects, made)
    except Uncertain:
        raise  # it may count: taking its bytes away would break it
    except BaseException:
        with suppress(StockmanError):
            await objects.delete(content_key)
        raise
    return made


async def deposits(objects: Objects, folder: str = "") -> tuple[Deposit, ...]:
    """All that are whole, below a folder, in the order of their names."""
    found = await objects.listed(folder)
    sizes = {one.key: one for one in found}
    manifests = [one for one in found if one.key.endswith(MANIFEST)]
    read = [await _manifest(objects, one) for one in manifests]
    return tuple(one for one in read if one.content_key in sizes)


async def leftovers(objects: Objects, folder: str = "") -> tuple[ObjectFacts, ...]:
    """Contents below a folder that no manifest names: of attempts that run, or that died."""
    found = await objects.listed(folder)
    manifests = [one for one in found if one.key.endswith(MANIFEST)]
    known = {(await _manifest(objects, one)).content_key for one in manifests}
    return tuple(one for one in found if f".{_PARTS}/" in one.key and one.key not in known)


async def read_deposit(objects: Objects, wanted: Deposit) -> AsyncIterator[bytes]:
    """A content piece by piece; `Rejected` at its end where it is not the one that was stored."""
    counted = _Counted(objects.read(wanted.content_key))
    async for piece in counted.pieces():
        yield piece
    if counted.size != wanted.size:
        why = f"it has {counted.size} bytes instead of {wanted.size}"
        raise other_content(wanted.content_key, why)
    if counted.sha256.hexdigest() != wanted.sha256:
        raise other_content(wanted.content_key, "its SHA-256 is another")


async def discard(objects: Objects, one: Deposit) -> None:
    """Take a deposit away: it stops to count first."""
    await objects.delete(f"{one.name}{MANIFEST}")
    await objects.delete(one.content_key)


async def _create(objects: Objects, made: Deposit) -> None:
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


async def _manifest(objects: Objects, facts: ObjectFacts) -> Deposit:
    if facts.size > _LARGEST_MANIFEST:
        raise odd_answer(facts.key, "this is no manifest of ours")
    content = b"".join([piece async for piece in objects.read(facts.key)])
    try:
        told = json.loads(content)
        return Deposit(
            name=facts.key.removesuffix(MANIFEST),
            content_key=checked_key(str(told["content"])),
            size=int(told["size"]),
            sha256=str(told["sha256"]),
            made=facts.modified,
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        raise odd_answer(facts.key, "this is no manifest of ours") from None


class _Counted:
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
