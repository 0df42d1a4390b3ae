"""Bodies that come piece by piece, no faster than the client takes them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from stockman_lab.http.messages import Stream

_END = b"0\r\n\r\n"


class Pump:
    """Sends the pieces of one body."""

    def __init__(self, stream: Stream, say: Callable[[bytes], None]) -> None:
        self.stream = stream
        self._say = say
        self._room: asyncio.Future[None] | None = None
        self._task: asyncio.Task[None] | None = None

    def start(self) -> asyncio.Task[None]:
        """Begin to send; the task ends when all is sent, or the client has left."""
        self._task = asyncio.ensure_future(self._sent())
        return self._task

    def stop(self) -> None:
        """The client has left."""
        if self._task is not None:
            self._task.cancel()

    def hold(self) -> None:
        """The client does not keep up."""
        if self._room is None:
            self._room = asyncio.get_running_loop().create_future()

    def go_on(self) -> None:
        """There is room again."""
        room, self._room = self._room, None
        if room is not None and not room.done():
            room.set_result(None)

    async def _sent(self) -> None:
        pieces = self.stream.pieces
        try:
            async for piece in pieces:
                if piece:
                    self._say(b"%x\r\n%b\r\n" % (len(piece), piece))
                while self._room is not None:
                    await self._room
        finally:
            close = getattr(pieces, "aclose", None)
            if close is not None:
                await close()
        if not self.stream.is_cut:
            self._say(_END)
