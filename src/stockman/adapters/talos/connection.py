"""A gRPC connection to a machine, shared by concurrent calls."""

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

from stockman.adapters.request_log import log_request
from stockman.adapters.talos import endpoint as errors
from stockman.adapters.tls import error_reason
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
"""Maximum size of a message."""
_PREFIX = 5
_STREAM_WINDOW, _CONNECTION_WINDOW = 1 << 20, 1 << 30
"""Flow control windows in bytes: a slow reader must not block the other calls."""
_CLOSE_SECONDS = 0.2
_NOISY_LOGGERS = ("h2", "hpack", "grpclib")
_NO_TRAILERS = ("Missing ", "Invalid ")
_CONNECTION_ERRORS = (StreamTerminatedError, ProtocolError, H2Error, OSError, AssertionError)
"""Errors of the libraries for a lost connection or stream."""


class ConnectionLost(Exception):
    """The connection was lost before the reply was complete; the outcome is unknown."""


class _SourceFailed(Exception):
    """The source of an upload failed, not the connection."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error


class _Bytes(CodecBase):
    """Passes messages as bytes; they are encoded elsewhere."""

    __content_subtype__ = "proto"

    def encode(self, message: Any, message_type: Any) -> bytes:
        del message_type
        return cast("bytes", message)

    def decode(self, data: bytes, message_type: Any) -> bytes:
        del message_type
        return data


class _Protocol(H2Protocol):
    """HTTP/2 that stores why the connection was lost."""

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
    """A connection, opened when it is needed and reopened when it was lost."""

    def __init__(self, server: ServerAddress, context: ssl.SSLContext) -> None:
        self.server = server
        for name in _NOISY_LOGGERS:
            # They log replies, which may contain a machine configuration.
            logging.getLogger(name).setLevel(logging.WARNING)
        self._channel = _Channel(
            server.host,
            server.port,
            ssl=context,
            codec=_Bytes(),
            config=Configuration(
                http2_connection_window_size=_CONNECTION_WINDOW,
                http2_stream_window_size=_STREAM_WINDOW,
                ssl_target_name_override=server.name or server.host,
            ),
        )

    async def open(self, seconds: float) -> None:
        """Connect unless connected; raises the error of a failed connection."""
        try:
            async with asyncio.timeout(seconds):
                await self._channel.__connect__()
            return
        except (OSError, TimeoutError, ValueError) as error:
            failure = errors.connection_error(self.server, error)
            # Its frames would keep the failed connection with all its buffers.
            error.__traceback__ = None
        raise failure

    async def close(self) -> None:
        """Close the connection, and wait briefly for the peer."""
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
        """Yield the messages of the reply.

        Without `deadline` the timeout of the request applies to each message.
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
        failure: Exception | None = None
        started = asyncio.get_running_loop().time()
        try:
            async with stream:
                with _keep_own_cancellation():
                    await _send(stream, messages)
                while True:
                    with _keep_own_cancellation():
                        async with asyncio.timeout(None if deadline else request.seconds):
                            message = await _receive(stream, request)
                    if message is None:
                        break
                    yield message
        except _SourceFailed as source:
            failure = source.error
        except GRPCError as error:
            failure = _translate_error(request, error)
        except TimeoutError:
            failure = lost_answer_error(request, f"no data within {request.seconds:g} s")
        except _CONNECTION_ERRORS:
            failure = self._lost_error()
        what = f"{request.method} on {request.node} by {self.server.host}"
        result = "OK" if failure is None else type(failure).__name__
        is_read = request.is_read and failure is None
        log_request(what, result, started, is_read=is_read)
        if failure is not None:
            # Raised here so that its context does not contain the message of the machine.
            raise failure

    def _lost_error(self) -> Exception:
        protocol = self._channel.last
        why = None if protocol is None else protocol.why
        rejection = errors.client_certificate_error(self.server, why)
        if rejection is not None:
            return rejection
        return ConnectionLost("the connection was lost" if why is None else error_reason(why))


async def _send(stream: Stream[bytes, bytes], messages: AsyncIterable[bytes]) -> None:
    """Send all messages; stops if the server replies early."""
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
    """Return the next message; None after the last one.

    Implemented here because the library accepts messages of any size.
    """
    if stream.initial_metadata is None:
        await stream.recv_initial_metadata()
    with stream._wrapper:
        prefix = await stream._stream.recv_data(_PREFIX)
        if prefix:
            size = int.from_bytes(prefix[1:], "big")
            if prefix[0] or size > MAX_BYTES:
                raise invalid_answer_error(
                    request, f"its message is compressed or larger than {MAX_BYTES >> 20} MiB"
                )
            return await stream._stream.recv_data(size) if size else b""
    await stream.recv_trailing_metadata()
    return None


@contextmanager
def _keep_own_cancellation() -> Iterator[None]:
    """Undo a cancellation of the task by the library, which must not look like a real one."""
    task = asyncio.current_task()
    before = 0 if task is None else task.cancelling()
    try:
        yield
    except (StreamTerminatedError, TimeoutError):
        if task is not None and task.cancelling() > before:
            task.uncancel()
        raise


def _translate_error(request: TalosRequest, error: GRPCError) -> StockmanError:
    message = error.message or ""
    if error.status is Status.UNKNOWN and message.startswith(_NO_TRAILERS):
        return lost_answer_error(request, "the server does not send gRPC trailers")
    return call_error(request, CallFailure(code=error.status.value, message=message))
