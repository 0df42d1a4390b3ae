"""Opens URLs of this machine: HTTP/1.1 over asyncio, with or without TLS."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

import h11

from stockman_lab.images.loopback import Target

T = TypeVar("T")
_PIECE = 1 << 16
_PATIENCE = 30.0
"""Seconds without a byte."""


class Trouble(OSError):
    """A connection that did not come about or broke."""


class Untrusted(Trouble):
    """A certificate that nobody trusts, or of another host."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked."""

    target: Target
    method: str = "GET"
    verify: bool = True
    agent: str = "Wget/1.21.3"


@dataclass(slots=True, kw_only=True)
class Reply:
    """What is answered; the body comes piece by piece."""

    status: int
    reason: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    """By name in small letters."""
    body: AsyncIterator[bytes]


OpenUrl: TypeAlias = Callable[[Question], AbstractAsyncContextManager[Reply]]


@asynccontextmanager
async def open_loopback(question: Question) -> AsyncIterator[Reply]:
    """Ask a server of this machine."""
    target = question.target
    if not target.is_local:
        raise Trouble("No route to host")
    reader, writer = await _connect(question)
    connection = h11.Connection(h11.CLIENT)
    try:
        headers = [
            ("Host", target.authority),
            ("User-Agent", question.agent),
            ("Accept", "*/*"),
            ("Accept-Encoding", "identity"),
            ("Connection", "close"),
        ]
        request = h11.Request(method=question.method, target=target.path, headers=headers)
        writer.write(
            (connection.send(request) or b"") + (connection.send(h11.EndOfMessage()) or b"")
        )
        await _patient(writer.drain())
        answer = await _next(connection, reader)
        while isinstance(answer, h11.InformationalResponse):
            answer = await _next(connection, reader)
        if not isinstance(answer, h11.Response):
            raise Trouble("No data received.")
        yield Reply(
            status=answer.status_code,
            reason=answer.reason.decode("latin-1"),
            headers={
                name.decode("latin-1"): value.decode("latin-1") for name, value in answer.headers
            },
            body=_pieces(connection, reader),
        )
    finally:
        writer.close()


async def _connect(question: Question) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    target = question.target
    context = _context(verify=question.verify) if target.scheme == "https" else None
    try:
        return await _patient(asyncio.open_connection(target.address, target.port, ssl=context))
    except ssl.SSLCertVerificationError as error:
        raise Untrusted(error.verify_message) from None
    except ConnectionRefusedError:
        raise Trouble("Connection refused") from None
    except OSError as error:
        raise Trouble(error.strerror or str(error)) from None


def _context(*, verify: bool) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if not verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


async def _pieces(connection: h11.Connection, reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    while True:
        event = await _next(connection, reader)
        if isinstance(event, h11.Data):
            yield bytes(event.data)
        elif isinstance(event, h11.EndOfMessage):
            return
        else:
            raise Trouble("Connection closed")


async def _next(connection: h11.Connection, reader: asyncio.StreamReader) -> h11.Event:
    try:
        while (event := connection.next_event()) is h11.NEED_DATA:
            connection.receive_data(await _patient(reader.read(_PIECE)))
    except (h11.RemoteProtocolError, OSError) as error:
        raise Trouble(str(error)) from None
    if isinstance(event, h11.Event):
        return event
    raise Trouble("Connection closed")


async def _patient(awaited: Awaitable[T]) -> T:
    try:
        async with asyncio.timeout(_PATIENCE):
            return await awaited
    except TimeoutError:
        raise Trouble("Connection timed out") from None
