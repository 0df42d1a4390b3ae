"""Small objects that are created exactly once, even if replies are lost."""

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
    """Create an object; raises `Conflict` if it exists with different content.

    The content must be unique to this process: an existing object with the same content counts as
    created by this call.
    """
    for attempt in range(_ATTEMPTS):
        try:
            await objects.create(key, content)
        except Conflict:
            existing = await find_object(objects, key)
            if existing == content:
                return
            # A server may report a conflict while another process is still creating the object.
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
    """Return the result of `read`, repeated a few times while it raises `Unreachable`."""
    for attempt in range(_LOOKS - 1):
        try:
            return await read()
        except Unreachable:
            await clock.sleep(_FIRST_WAIT * 2**attempt)
    return await read()


async def read_object(objects: ObjectStore, key: str) -> bytes:
    """Return the content of a small object; raises `NotFound`."""
    return b"".join([piece async for piece in objects.read(key)])


async def find_object(objects: ObjectStore, key: str) -> bytes | None:
    """Return the content of a small object; None if it does not exist or cannot be read."""
    try:
        return await read_object(objects, key)
    except (NotFound, Unreachable):
        return None
