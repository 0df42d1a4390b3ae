"""The wire over gRPC: connections used again, a read repeated once, nothing else retried."""

from __future__ import annotations

import ssl
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING

from stockman.adapters.talos.endpoint import TalosEndpoints
from stockman.adapters.talos.tls import client_context, maintenance_context
from stockman.model.errors import Denied, Refused, StockmanError, Unreachable
from stockman.talos.api import errors
from stockman.talos.api.errors import invalid_answer_error, lost_answer_error
from stockman.talos.api.transport import TalosRequest
from stockman.talos.records.operations import MaintenanceMachine

if TYPE_CHECKING:
    from stockman.adapters.talos.connection import Connection
from stockman.adapters.closing import AsyncCloseable
from stockman.talos.api.client import TalosApi

MAX_MAINTENANCE_CONNECTIONS = 64
"""Lines to machines without a configuration that are kept open for the next call."""


class GrpcTransport:
    """Carries calls over gRPC to whichever endpoint takes the connection.

    Settings of proxies are not looked at: what is dialled is what was given.
    """

    def __init__(self, endpoints: TalosEndpoints) -> None:
        self._endpoints = endpoints
        self._at = 0
        self._own: ssl.SSLContext | None = None
        self._strange: dict[str, ssl.SSLContext] = {}
        """By fingerprint: there may be a thousand machines, and each context is large."""
        self._lines: dict[tuple[str, MaintenanceMachine | None], Connection] = {}
        """Those to strangers in the order in which they were last used."""
        self._calls: Counter[Connection] = Counter()
        """Calls on their way."""

    async def close(self) -> None:
        """Close all connections."""
        lines = list(self._lines.values())
        self._lines.clear()
        for line in lines:
            await line.close()

    async def unary(self, request: TalosRequest) -> bytes:
        return await self._single(request, None)

    async def upload(self, request: TalosRequest, messages: AsyncIterable[bytes]) -> bytes:
        return await self._single(request, messages)

    async def stream(self, request: TalosRequest) -> AsyncGenerator[bytes, None]:
        from stockman.adapters.talos.connection import ConnectionLost

        begun = False
        for is_last in (not request.is_read, True):
            line = await self._connected(request)
            try:
                answers = line.answers(request, _single_message(request.message), deadline=None)
                async with self._in_use(line), aclosing(answers):
                    async for piece in answers:
                        begun = True
                        yield piece
                return
            except ConnectionLost as dead:
                if begun or is_last:
                    raise lost_answer_error(request, str(dead)) from None

    async def _single(self, request: TalosRequest, messages: AsyncIterable[bytes] | None) -> bytes:
        from stockman.adapters.talos.connection import ConnectionLost

        for is_last in (not request.is_read, True):
            line = await self._connected(request)
            try:
                async with self._in_use(line):
                    return await _single_reply(
                        line, request, messages or _single_message(request.message)
                    )
            except ConnectionLost as dead:
                if is_last:
                    raise lost_answer_error(request, str(dead)) from None
        raise invalid_answer_error(request, "there is no answer")

    async def _connected(self, request: TalosRequest) -> Connection:
        """A line to the first endpoint that takes the connection, or to a stranger.

        An endpoint that is not trusted, or does not want us, is passed over: it may wait for its
        configuration. Why it is so is told where no other takes the connection.
        """
        seconds = self._endpoints.connect_seconds
        if request.stranger is not None:
            line = await self._line(request.stranger.address, request.stranger)
            await line.open(seconds)
            return line
        hosts = self._endpoints.hosts
        trouble: StockmanError = Unreachable(errors.unreachable_problem("", "there is no endpoint"))
        for _ in hosts:
            at = self._at
            try:
                line = await self._line(hosts[at], None)
                await line.open(seconds)
                return line
            except (Denied, Refused, Unreachable) as error:
                if isinstance(trouble, Unreachable) or not isinstance(error, Unreachable):
                    trouble = error
                if self._at == at:
                    self._at = (at + 1) % len(hosts)
        raise trouble

    @asynccontextmanager
    async def _in_use(self, line: Connection) -> AsyncGenerator[None, None]:
        """Keep a line while a call is on its way; then close one to a stranger if there are many.

        A thousand machines may wait for their configuration, and lines have large buffers.
        """
        self._calls[line] += 1
        try:
            yield
        finally:
            self._calls[line] -= 1
        idle = [key for key, one in self._lines.items() if key[1] and not self._calls[one]]
        if len(idle) > MAX_MAINTENANCE_CONNECTIONS:
            left = self._lines.pop(idle[0])
            del self._calls[left]
            await left.close()

    async def _line(self, host: str, stranger: MaintenanceMachine | None) -> Connection:
        from stockman.adapters.talos.connection import Connection

        door = self._endpoints.door(host)
        known = self._lines.get((host, stranger))
        if known is not None and known.door == door:
            self._lines[(host, stranger)] = self._lines.pop((host, stranger))
            return known
        made = self._lines[(host, stranger)] = Connection(door, self._context(stranger))
        if known is not None:
            await known.close()
        return made

    def _context(self, stranger: MaintenanceMachine | None) -> ssl.SSLContext:
        if stranger is not None:
            fingerprint = stranger.fingerprint
            if fingerprint not in self._strange:
                self._strange[fingerprint] = maintenance_context(fingerprint)
            return self._strange[fingerprint]
        if self._own is None:
            identity = self._endpoints.identity
            if identity is None:
                raise Refused(errors.missing_identity_problem("there are none"))
            self._own = client_context(identity)
        return self._own


async def _single_reply(
    line: Connection, request: TalosRequest, messages: AsyncIterable[bytes]
) -> bytes:
    found: bytes | None = None
    answers = line.answers(request, messages, deadline=request.seconds)
    async with aclosing(answers):
        async for piece in answers:
            if found is not None:
                raise invalid_answer_error(request, "several messages came where one was expected")
            found = piece
    if found is None:
        raise lost_answer_error(request, "the call ended without an answer")
    return found


async def _single_message(message: bytes) -> AsyncIterator[bytes]:
    yield message


class GrpcTalos(TalosApi, AsyncCloseable):
    """`ports.Talos` over gRPC, to be closed after use."""

    def __init__(self, endpoints: TalosEndpoints) -> None:
        self._grpc = GrpcTransport(endpoints)
        super().__init__(self._grpc)

    async def close(self) -> None:
        await self._grpc.close()
