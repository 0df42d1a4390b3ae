"""Small objects, created exactly once whatever the network does."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from stockman.model.errors import Conflict, NotFound, Uncertain, Unreachable
from stockman.ports.objects import ObjectStore
from stockman.ports.system import Timekeeper

T = TypeVar("T")
_ATTEMPTS = 5
_LOOKS = 3
_FIRST_WAIT = 0.5


async def create_object_once(
    objects: ObjectStore, clock: Timekeeper, key: str, content: bytes
) -> None:
    """Create an object; `Conflict` where there is one with another content.

    The content has to be unlike everybody else's: an object that holds it counts as created by us.
    """
    for attempt in range(_ATTEMPTS):
        try:
            await objects.create(key, content)
        except Conflict:
            existing = await find_object(objects, key)
            if existing == content:
                return
            # A server may refuse while somebody else's object is still on its way.
            if existing is not None or attempt == _ATTEMPTS - 1:
                raise
        except (Uncertain, Unreachable):
            if attempt == _ATTEMPTS - 1:
                raise
        else:
            return
        await clock.sleep(_FIRST_WAIT * 2**attempt)
        if await find_object(objects, key) == content:
            return


async def read_with_retries(clock: Timekeeper, read: Callable[[], Awaitable[T]]) -> T:
    """What a read says, asked again a few times where nobody answers."""
    for attempt in range(_LOOKS - 1):
        try:
            return await read()
        except Unreachable:
            await clock.sleep(_FIRST_WAIT * 2**attempt)
    return await read()


async def read_object(objects: ObjectStore, key: str) -> bytes:
    """All of a small object; `NotFound` where there is none."""
    return b"".join([piece async for piece in objects.read(key)])


async def find_object(objects: ObjectStore, key: str) -> bytes | None:
    """All of a small object. None: there is none, or nobody answers right now."""
    try:
        return await read_object(objects, key)
    except (NotFound, Unreachable):
        return None
