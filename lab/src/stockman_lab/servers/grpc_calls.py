"""The calls of one gRPC connection: frames in, what answers them, frames out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, TypeAlias

from grpclib.metadata import encode_grpc_message
from grpclib.protocol import AbstractHandler
from h2.exceptions import ProtocolError, StreamClosedError

from stockman.talos.api.transport import GrpcCode
from stockman_lab.talos.api.call import Cut, IncomingCall, Refusal

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


MOST = 32 * 1024 * 1024
"""Bytes of a message."""
_PREFIX = 5
_UNITS = {"H": 3600.0, "M": 60.0, "S": 1.0, "m": 1e-3, "u": 1e-6, "n": 1e-9}

Answering: TypeAlias = Callable[[IncomingCall], AsyncGenerator[bytes, None]]


class Calls(AbstractHandler):
    """Answers the calls of a connection, many at a time."""

    def __init__(
        self,
        answering: Answering,
        cut: Callable[[], None],
        peer: str,
        roles: frozenset[str],
        *,
        is_proxy: bool,
    ) -> None:
        self._answering = answering
        self._cut = cut
        self._peer = peer
        self._roles = roles
        self._is_proxy = is_proxy
        self._tasks: dict[Stream, asyncio.Task[None]] = {}

    def accept(self, stream: Stream, headers: Headers, release_stream: Callable[[], None]) -> None:
        task = asyncio.ensure_future(self._exchange(stream, headers))
        self._tasks[stream] = task

        def ended(task: asyncio.Task[None]) -> None:
            self._tasks.pop(stream, None)
            release_stream()
            if not task.cancelled() and (error := task.exception()) is not None:
                self._broken(stream, error)

        task.add_done_callback(ended)

    def cancel(self, stream: Stream) -> None:
        task = self._tasks.pop(stream, None)
        if task is not None:
            task.cancel()

    def close(self) -> None:
        for task in self._tasks.values():
            task.cancel()

    def _broken(self, stream: Stream, error: BaseException) -> None:
        """A mistake of the lab's own: the client learns that there was one, and nothing else."""
        if isinstance(error, Cut):
            self._cut()
            return
        context = {"message": "a call could not be answered", "exception": error}
        asyncio.get_running_loop().call_exception_handler(context)
        if stream.closable:
            stream.reset_nowait()

    async def _exchange(self, stream: Stream, headers: Headers) -> None:
        reply = Reply(stream)
        try:
            fields = _fields(headers)
            wrong = _wrong(fields)
            if wrong is not None:
                await stream.send_headers(wrong, end_stream=True)
                return
            await self._within(fields, reply, stream)
        except Refusal as refusal:
            await reply.end(refusal.code, refusal.message)
        except ProtocolError:
            # The client left in the middle of it.
            return

    async def _within(self, fields: dict[str, list[str]], reply: Reply, stream: Stream) -> None:
        """Answer before the time is up that the client gave."""
        try:
            async with asyncio.timeout(_timeout(fields.get("grpc-timeout", [""])[0])):
                await self._answer(fields, reply, stream)
        except TimeoutError:
            raise Refusal(GrpcCode.DEADLINE_EXCEEDED, "context deadline exceeded") from None

    async def _answer(self, fields: dict[str, list[str]], reply: Reply, stream: Stream) -> None:
        incoming = IncomingCall(
            path=fields[":path"][0],
            pieces=_pieces(stream, is_proxy=self._is_proxy),
            headers=fields,
            roles=self._roles,
            peer=self._peer,
        )
        async with aclosing(self._answering(incoming)) as answer:
            async for piece in answer:
                await reply.send(piece)
        await reply.end(GrpcCode.OK, "")


async def _pieces(stream: Stream, *, is_proxy: bool) -> AsyncIterator[bytes]:
    """The messages of the client."""
    while prefix := await _read(stream, _PREFIX, is_proxy=is_proxy):
        size = int.from_bytes(prefix[1:], "big")
        if prefix[0]:
            raise Refusal(GrpcCode.UNIMPLEMENTED, "grpc: Decompressor is not installed for frames")
        if size > MOST:
            text = f"grpc: received message larger than max ({size} vs. {MOST})"
            raise _unreadable_request(GrpcCode.RESOURCE_EXHAUSTED, text, is_proxy=is_proxy)
        piece = await _read(stream, size, is_proxy=is_proxy) if size else b""
        if len(piece) < size:
            raise _unreadable_request(GrpcCode.INTERNAL, "unexpected EOF", is_proxy=is_proxy)
        yield piece


async def _read(stream: Stream, size: int, *, is_proxy: bool) -> bytes:
    try:
        return await stream.recv_data(size)
    except AssertionError:  # how the library says that the stream ended in between
        raise _unreadable_request(GrpcCode.INTERNAL, "unexpected EOF", is_proxy=is_proxy) from None


def _unreadable_request(code: GrpcCode, text: str, *, is_proxy: bool) -> Refusal:
    """What cannot be read is told by the proxy that stands before the API, in its own words."""
    refusal = Refusal(code, text)
    if is_proxy:
        return Refusal(GrpcCode.INTERNAL, f"failed proxying s2c: {refusal}")
    return refusal


def _fields(headers: Headers) -> dict[str, list[str]]:
    fields: dict[str, list[str]] = {}
    for name, value in headers:
        fields.setdefault(name, []).append(value)
    return fields


def _wrong(fields: dict[str, list[str]]) -> Headers | None:
    """What is answered to a request that is no gRPC call."""
    method = fields.get(":method", [""])[0]
    if method != "POST" or ":path" not in fields:
        text = f'Received a HEADERS frame with :method "{method}" which should be POST'
        return _abort("405", GrpcCode.INTERNAL, text)
    kind = fields.get("content-type", [""])[0]
    if kind != TYPE and not kind.startswith((f"{TYPE}+", f"{TYPE};")):
        return _abort(
            "415", GrpcCode.INVALID_ARGUMENT, f'invalid gRPC request content-type "{kind}"'
        )
    return None


def _abort(status: str, code: GrpcCode, message: str) -> Headers:
    return [
        (":status", status),
        ("content-type", TYPE),
        ("grpc-status", str(int(code))),
        ("grpc-message", encode_grpc_message(message)),
    ]


def _timeout(text: str) -> float | None:
    """The seconds that a client gives; None: as long as it takes."""
    if not text:
        return None
    number, unit = text[:-1], text[-1:]
    if unit not in _UNITS or not number.isascii() or not number.isdigit():
        raise Refusal(GrpcCode.INTERNAL, f"malformed grpc-timeout: {text!r}")
    return int(number) * _UNITS[unit]
