"""The gRPC transport: connections are reused, a read is repeated once."""

from __future__ import annotations

import ssl
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING

from stockman.adapters.talos.endpoint import TalosEndpoints, client_context, maintenance_context
from stockman.model.errors import Denied, Refused, StockmanError, Unreachable
from stockman.talos.api import errors
from stockman.talos.api.errors import invalid_answer_error, lost_answer_error
from stockman.talos.api.transport import TalosRequest
from stockman.talos.records.operations import MaintenanceMachine

if TYPE_CHECKING:
    from stockman.adapters.talos.connection import Connection
from stockman.adapters.tls import AsyncCloseable
from stockman.talos.api.client import TalosClient

MAX_MAINTENANCE_CONNECTIONS = 64
"""Connections to machines in maintenance that are kept open."""


class GrpcTransport:
    """Sends requests over gRPC to the first endpoint that accepts the connection.

    Proxy settings are ignored.
    """

    def __init__(self, endpoints: TalosEndpoints) -> None:
        self._endpoints = endpoints
        self._current = 0
        self._own_context: ssl.SSLContext | None = None
        self._maintenance_contexts: dict[str, ssl.SSLContext] = {}
        """By fingerprint: contexts are large, and there may be a thousand machines."""
        self._connections: dict[tuple[str, MaintenanceMachine | None], Connection] = {}
        """Connections to machines in maintenance are in the order of their last use."""
        self._calls: Counter[Connection] = Counter()
        """Running calls."""

    async def close(self) -> None:
        """Close all connections."""
        connections = list(self._connections.values())
        self._connections.clear()
        for connection in connections:
            await connection.close()

    async def unary(self, request: TalosRequest) -> bytes:
        return await self._single(request, None)

    async def upload(self, request: TalosRequest, messages: AsyncIterable[bytes]) -> bytes:
        return await self._single(request, messages)

    async def stream(self, request: TalosRequest) -> AsyncGenerator[bytes, None]:
        from stockman.adapters.talos.connection import ConnectionLost

        has_data = False
        for is_last in (not request.is_read, True):
            connection = await self._connect(request)
            try:
                answers = connection.answers(
                    request, _single_message(request.message), deadline=None
                )
                async with self._in_use(connection), aclosing(answers):
                    async for message in answers:
                        has_data = True
                        yield message
                return
            except ConnectionLost as error:
                if has_data or is_last:
                    raise lost_answer_error(request, str(error)) from None

    async def _single(self, request: TalosRequest, messages: AsyncIterable[bytes] | None) -> bytes:
        from stockman.adapters.talos.connection import ConnectionLost

        for is_last in (not request.is_read, True):
            connection = await self._connect(request)
            try:
                async with self._in_use(connection):
                    return await _single_reply(
                        connection, request, messages or _single_message(request.message)
                    )
            except ConnectionLost as error:
                if is_last:
                    raise lost_answer_error(request, str(error)) from None
        raise invalid_answer_error(request, "there is no reply")

    async def _connect(self, request: TalosRequest) -> Connection:
        """Return a connection to the first reachable endpoint, or to a machine in maintenance.

        An endpoint that is not trusted or rejects the client is skipped: it may be waiting for its
        configuration. Its error is raised if no other endpoint is reachable.
        """
        seconds = self._endpoints.connect_seconds
        if request.stranger is not None:
            connection = await self._connection(request.stranger.address, request.stranger)
            await connection.open(seconds)
            return connection
        hosts = self._endpoints.hosts
        failure: StockmanError = Unreachable(
            errors.talos_problem("talos.unreachable", "", "no endpoint is configured")
        )
        for _ in hosts:
            index = self._current
            try:
                connection = await self._connection(hosts[index], None)
                await connection.open(seconds)
                return connection
            except (Denied, Refused, Unreachable) as error:
                if isinstance(failure, Unreachable) or not isinstance(error, Unreachable):
                    failure = error
                if self._current == index:
                    self._current = (index + 1) % len(hosts)
        raise failure

    @asynccontextmanager
    async def _in_use(self, connection: Connection) -> AsyncGenerator[None, None]:
        """Keep a connection during a call; then close an idle one to a machine in maintenance.

        A thousand machines may wait for their configuration, and connections have large buffers.
        """
        self._calls[connection] += 1
        try:
            yield
        finally:
            self._calls[connection] -= 1
        idle = [
            key for key, other in self._connections.items() if key[1] and not self._calls[other]
        ]
        if len(idle) > MAX_MAINTENANCE_CONNECTIONS:
            closed = self._connections.pop(idle[0])
            del self._calls[closed]
            await closed.close()

    async def _connection(self, host: str, machine: MaintenanceMachine | None) -> Connection:
        from stockman.adapters.talos.connection import Connection

        server = self._endpoints.server(host)
        existing = self._connections.get((host, machine))
        if existing is not None and existing.server == server:
            self._connections[(host, machine)] = self._connections.pop((host, machine))
            return existing
        connection = self._connections[(host, machine)] = Connection(server, self._context(machine))
        if existing is not None:
            await existing.close()
        return connection

    def _context(self, machine: MaintenanceMachine | None) -> ssl.SSLContext:
        if machine is not None:
            fingerprint = machine.fingerprint
            if fingerprint not in self._maintenance_contexts:
                self._maintenance_contexts[fingerprint] = maintenance_context(fingerprint)
            return self._maintenance_contexts[fingerprint]
        if self._own_context is None:
            identity = self._endpoints.identity
            if identity is None:
                raise Refused(
                    errors.talos_problem("talos.identity", "talosconfig", "there are none")
                )
            self._own_context = client_context(identity)
        return self._own_context


async def _single_reply(
    connection: Connection, request: TalosRequest, messages: AsyncIterable[bytes]
) -> bytes:
    reply: bytes | None = None
    answers = connection.answers(request, messages, deadline=request.seconds)
    async with aclosing(answers):
        async for message in answers:
            if reply is not None:
                raise invalid_answer_error(request, "expected one message, got several")
            reply = message
    if reply is None:
        raise lost_answer_error(request, "the call ended without a reply")
    return reply


async def _single_message(message: bytes) -> AsyncIterator[bytes]:
    yield message


class GrpcTalos(TalosClient, AsyncCloseable):
    """A Talos client over gRPC, to be closed after use."""

    def __init__(self, endpoints: TalosEndpoints) -> None:
        self._grpc = GrpcTransport(endpoints)
        super().__init__(self._grpc)

    async def close(self) -> None:
        await self._grpc.close()
