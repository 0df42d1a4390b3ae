"""What goes back to a gRPC client: as few writes as can be, and no more than it takes."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeAlias

from grpclib.metadata import encode_grpc_message
from h2.exceptions import ProtocolError, StreamClosedError

from stockman.talos.api.transport import GrpcCode

if TYPE_CHECKING:
    from grpclib.protocol import Stream

Headers: TypeAlias = list[tuple[str, str]]

TYPE = "application/grpc"
_AT_ONCE = 64 * 1024
"""Bytes that are written without waiting for more."""


class Reply:
    """The answer to one call.

    The library writes every frame by itself; here those that belong together leave together.
    """

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._line = stream.connection
        self._http2 = stream._h2_connection
        self._number = stream.id or 0
        self._begun = False
        self._gathered = 0

    async def send(self, piece: bytes) -> None:
        """One message; waits as long as the client takes no more."""
        data = memoryview(b"\x00" + len(piece).to_bytes(4, "big") + piece)
        at = 0
        while at < len(data):
            await self._line.write_ready.wait()
            self._begin()
            window = self._http2.local_flow_control_window(self._number)
            if window > 0:
                at = self._frames(data, at, min(len(data), at + window))
                continue
            self._flush()
            self._stream.window_updated.clear()
            await self._stream.window_updated.wait()
        if self._gathered >= _AT_ONCE:
            self._flush()
        else:
            asyncio.get_running_loop().call_soon(self._flush)

    async def end(self, code: GrpcCode, message: str) -> None:
        """How it ended."""
        await self._line.write_ready.wait()
        headers = [] if self._begun else _opening()
        headers.append(("grpc-status", str(int(code))))
        if message:
            headers.append(("grpc-message", encode_grpc_message(message)))
        try:
            self._check()
            self._http2.send_headers(self._number, headers, end_stream=True)
        except ProtocolError:
            return
        self._flush()
        if code is not GrpcCode.OK and self._stream.closable:
            self._stream.reset_nowait()

    def _begin(self) -> None:
        self._check()
        if not self._begun:
            self._begun = True
            self._http2.send_headers(self._number, _opening())

    def _frames(self, data: memoryview, at: int, end: int) -> int:
        most = self._http2.max_outbound_frame_size
        while at < end:
            size = min(most, end - at)
            self._http2.send_data(self._number, bytes(data[at : at + size]))
            at += size
            self._gathered += size
        return at

    def _check(self) -> None:
        """Raise where the client left; the library would begin another stream."""
        if self._line.is_closing() or self._number not in self._http2.streams:
            raise StreamClosedError(self._number)

    def _flush(self) -> None:
        self._gathered = 0
        if not self._line.is_closing():
            self._line.flush()


def _opening() -> Headers:
    return [(":status", "200"), ("content-type", TYPE)]
