"""Answers of many machines made one.

A message is put together from its encoded parts: lists of the same field grow, so that the name of
a machine can be added behind its answer without a look inside.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from stockman.talos.wire.schema import load_api_schema
from stockman_lab.talos.api.call import IncomingCall, Refusal

if TYPE_CHECKING:
    from stockman.talos.wire.values import Fields

Carried: TypeAlias = Callable[[str, IncomingCall], AsyncGenerator[bytes, None]]

_ANY_MINOR = "1.11"
"""The names of machines are written alike in all of them."""
_FIRST_FIELD = 0x0A
_MOST_WAITING = 16


async def merged_messages(
    carried: Carried, targets: Sequence[str], incoming: IncomingCall
) -> AsyncGenerator[bytes, None]:
    """One message that holds the answers of all."""
    calls = await _one_for_each(targets, incoming)
    results = await asyncio.gather(
        *(_part(carried, target, call) for target, call in zip(targets, calls, strict=True))
    )
    yield b"".join(results)


async def merged_streams(
    carried: Carried, targets: Sequence[str], incoming: IncomingCall
) -> AsyncGenerator[bytes, None]:
    """The messages of all as they come; none is taken faster than they are wanted."""
    calls = await _one_for_each(targets, incoming)
    coming: asyncio.Queue[bytes | None] = asyncio.Queue()
    room = asyncio.Semaphore(_MOST_WAITING)

    async def forward(target: str, incoming: IncomingCall) -> None:
        try:
            async for piece in carried(target, incoming):
                await room.acquire()
                coming.put_nowait(piece + _metadata({"hostname": target}))
        except Refusal as refusal:
            await room.acquire()
            coming.put_nowait(_metadata(_error(target, refusal)))
        finally:
            coming.put_nowait(None)

    # No group of tasks: whoever leaves early closes this generator in the middle of it.
    tasks = [
        asyncio.ensure_future(forward(target, call))
        for target, call in zip(targets, calls, strict=True)
    ]
    try:
        for _ in tasks:
            while (piece := await coming.get()) is not None:
                room.release()
                yield piece
        for task in tasks:
            await task
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _part(carried: Carried, target: str, incoming: IncomingCall) -> bytes:
    try:
        pieces = [piece async for piece in carried(target, incoming)]
    except Refusal as refusal:
        return _message_list(_metadata(_error(target, refusal)))
    named = _metadata({"hostname": target})
    return b"".join(_message_list(_first(piece) + named) for piece in pieces)


async def _one_for_each(targets: Sequence[str], incoming: IncomingCall) -> list[IncomingCall]:
    """The call, as often as there are targets; what is uploaded to several is read first."""
    if len(targets) == 1:
        return [incoming]
    pieces = [piece async for piece in incoming.pieces]
    return [
        IncomingCall(incoming.path, _again(pieces), incoming.headers, incoming.roles, incoming.peer)
        for _ in targets
    ]


async def _again(pieces: Sequence[bytes]) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


def _error(target: str, refusal: Refusal) -> Fields:
    status = {"code": int(refusal.code), "message": refusal.message}
    return {"hostname": target, "error": str(refusal), "status": status}


def _metadata(fields: Fields) -> bytes:
    from stockman.talos.wire.values import new_message

    message = new_message(load_api_schema(_ANY_MINOR), "common.Empty", {"metadata": fields})
    return message.SerializeToString()


def _message_list(message: bytes) -> bytes:
    return bytes([_FIRST_FIELD]) + _varint(len(message)) + message


def _first(piece: bytes) -> bytes:
    """The only element of a list of messages."""
    place = 1
    while piece[place] & 0x80:
        place += 1
    return piece[place + 1 :]


def _varint(number: int) -> bytes:
    numbers = bytearray()
    while number > 0x7F:
        numbers.append(number & 0x7F | 0x80)
        number >>= 7
    numbers.append(number)
    return bytes(numbers)
