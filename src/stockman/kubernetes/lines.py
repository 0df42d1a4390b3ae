"""Lines of a stream of bytes."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from stockman.kubernetes.refusals import odd_answer
from stockman.kubernetes.wire import Request

_LONGEST = 32 << 20


async def lines(
    request: Request, pieces: AsyncGenerator[bytes, None]
) -> AsyncGenerator[bytes, None]:
    """Lines without their ends; one that does not end comes last."""
    left = bytearray()
    async with aclosing(pieces):
        async for piece in pieces:
            left += piece
            if b"\n" in piece:
                *whole, rest = bytes(left).split(b"\n")
                left = bytearray(rest)
                for line in whole:
                    yield line
            if len(left) > _LONGEST:
                raise odd_answer(request, f"a line is over {_LONGEST >> 20} MiB")
    if left:
        yield bytes(left)
