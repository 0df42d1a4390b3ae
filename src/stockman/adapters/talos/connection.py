"""One connection to one machine, used for many calls at a time."""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from typing import Any, cast

from grpclib.client import Channel, Handler, Stream
from grpclib.config import Configuration
from grpclib.const import Cardinality, Status
from grpclib.encoding.base import CodecBase
from grpclib.exceptions import GRPCError, ProtocolError, StreamTerminatedError
from grpclib.protocol import H2Protocol
from h2.exceptions import H2Error

from stockman.adapters.proxmox.errors import error_reason
from stockman.adapters.talos import errors
from stockman.model.errors import StockmanError
from stockman.ports.environment import ServerAddress
from stockman.talos.api.errors import (
    CallFailure,
    call_error,
    invalid_answer_error,
    lost_answer_error,
)
from stockman.talos.api.transport import TalosRequest

MAX_BYTES = 32 << 20
"""Bytes of a message."""
_PREFIX = 5
_STREAM_WINDOW, _LINE_WINDOW = 1 << 20, 1 << 30
"""Bytes that may be on their way: one slow reader must not hold up the others of a connection."""
_CLOSE_SECONDS = 0.2
_NOISY_LOGGERS = ("h2", "hpack", "grpclib")
_NO_TRAILERS = ("Missing ", "Invalid ")
_CONNECTION_ERRORS = (StreamTerminatedError, ProtocolError, H2Error, OSError, AssertionError)
"""How the libraries say that a connection or a stream ended in between."""


class ConnectionLost(Exception):
    """The connection ended before the answer did; nobody knows what the other side has done."""


class _SourceFailed(Exception):
    """What is to be sent could not be read: no trouble of the connection."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error


class _Bytes(CodecBase):
    """Messages are encoded and decoded elsewhere."""

    __content_subtype__ = "proto"

    def encode(self, message: Any, message_type: Any) -> bytes:
        del message_type
        return cast("bytes", message)

    def decode(self, data: bytes, message_type: Any) -> bytes:
        del message_type
        return data


class _Protocol(H2Protocol):
    """HTTP/2 that remembers why it ended."""

    transport: asyncio.Transport | None = None
    why: BaseException | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.gone = asyncio.Event()
        self.transport = cast("asyncio.Transport", transport)
        super().connection_made(transport)

    def connection_lost(self, exc: BaseException | None) -> None:
        self.why = exc
        self.gone.set()
        super().connection_lost(exc)


class _Channel(Channel):
    last: _Protocol | None = None

    def _protocol_factory(self) -> H2Protocol:
        self.last = _Protocol(Handler(), self._config, self._h2_config)
        return self.last


class Connection:
    """A connection; it is made when it is needed, and made anew when it is gone."""

    def __init__(self, door: ServerAddress, context: ssl.SSLContext) -> None:
        self.door = door
        for name in _NOISY_LOGGERS:
            # They write down what machines say, and those may say a configuration back.
            logging.getLogger(name).setLevel(logging.WARNING)
        self._channel = _Channel(
            door.host,
            door.port,
            ssl=context,
            codec=_Bytes(),
            config=Configuration(
                http2_connection_window_size=_LINE_WINDOW,
                http2_stream_window_size=_STREAM_WINDOW,
                ssl_target_name_override=door.name or door.host,
            ),
        )

    async def open(self, seconds: float) -> None:
        """Connect where that is to be done yet; raises what keeps it from that."""
        try:
            async with asyncio.timeout(seconds):
                await self._channel.__connect__()
            return
        except (OSError, TimeoutError, ValueError) as error:
            trouble = errors.connection_error(self.door, error)
            # Its frames would hold the connection that failed, with all its buffers.
            error.__traceback__ = None
        raise trouble

    async def close(self) -> None:
        """Say farewell, and wait a moment for the other side to do so."""
        protocol = self._channel.last
        self._channel.close()
        if protocol is None or protocol.transport is None:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await protocol.gone.wait()
        if not protocol.gone.is_set():
            # asyncio of Python 3.11.2 raises for a TLS transport that was closed twice.
            with suppress(AttributeError):
                protocol.transport.abort()

    async def answers(
        self, request: TalosRequest, messages: AsyncIterable[bytes], *, deadline: float | None
    ) -> AsyncGenerator[bytes, None]:
        """All messages that a call is answered with.

        Without `deadline` the whole may last, and each message may take the time of the request.
        """
        metadata = {} if request.stranger is not None else {"node": str(request.node)}
        stream: Stream[bytes, bytes] = self._channel.request(
            f"/{request.method}",
            Cardinality.STREAM_STREAM,
            bytes,
            bytes,
            timeout=deadline,
            metadata=metadata,
        )
        trouble: Exception | None = None
        try:
            async with stream:
                with _keep_own_cancellation():
                    await _send(stream, messages)
                while True:
                    with _keep_own_cancellation():
                        async with asyncio.timeout(None if deadline else request.seconds):
                            piece = await _receive(stream, request)
                    if piece is None:
                        break
                    yield piece
        except _SourceFailed as failed:
            trouble = failed.error
        except GRPCError as error:
            trouble = _translate_error(request, error)
        except TimeoutError:
            trouble = lost_answer_error(request, f"nothing came within {request.seconds:g} s")
        except _CONNECTION_ERRORS:
            trouble = self._dead()
        if trouble is not None:
            # Raised here, so that nothing hangs on it of what the machine said word for word.
            raise trouble

    def _dead(self) -> Exception:
        protocol = self._channel.last
        why = None if protocol is None else protocol.why
        refused = errors.client_certificate_error(self.door, why)
        if refused is not None:
            return refused
        return ConnectionLost("the connection was cut" if why is None else error_reason(why))


async def _send(stream: Stream[bytes, bytes], messages: AsyncIterable[bytes]) -> None:
    """Send what there is to send; a server that has answered before all is sent is heard."""
    await stream.send_request()
    async for message in _wrap_source(messages):
        await stream.send_message(message)
    await stream.end()


async def _wrap_source(messages: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    source = aiter(messages)
    while True:
        try:
            message = await anext(source, None)
        except (OSError, AssertionError) as error:
            raise _SourceFailed(error) from error
        if message is None:
            return
        yield message


async def _receive(stream: Stream[bytes, bytes], request: TalosRequest) -> bytes | None:
    """The next message; None: all came, and the call ended well.

    Read here and not by the library, which takes messages of any size.
    """
    if stream.initial_metadata is None:
        await stream.recv_initial_metadata()
    with stream._wrapper:
        prefix = await stream._stream.recv_data(_PREFIX)
        if prefix:
            size = int.from_bytes(prefix[1:], "big")
            if prefix[0] or size > MAX_BYTES:
                raise invalid_answer_error(
                    request, f"a message of it is packed, or over {MAX_BYTES >> 20} MiB"
                )
            return await stream._stream.recv_data(size) if size else b""
    await stream.recv_trailing_metadata()
    return None


@contextmanager
def _keep_own_cancellation() -> Iterator[None]:
    """The library cancels the task to wake it up; others must not take that for their own."""
    task = asyncio.current_task()
    before = 0 if task is None else task.cancelling()
    try:
        yield
    except (StreamTerminatedError, TimeoutError):
        if task is not None and task.cancelling() > before:
            task.uncancel()
        raise


def _translate_error(request: TalosRequest, error: GRPCError) -> StockmanError:
    told = error.message or ""
    if error.status is Status.UNKNOWN and told.startswith(_NO_TRAILERS):
        return lost_answer_error(request, "what answers does not speak gRPC to its end")
    return call_error(request, CallFailure(code=error.status.value, message=told))
