"""A gRPC server that answers with bytes of any kind, under the certificate of a machine."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

from grpclib.const import Cardinality, Handler
from grpclib.encoding.base import CodecBase
from grpclib.server import Server, Stream
from stockman_lab.talos.machine import Machine
from stockman_lab.talos.security.tls import server_context

Answering = Callable[[Stream[bytes, bytes]], Awaitable[None]]


class _Bytes(CodecBase):
    __content_subtype__ = "proto"

    def encode(self, message: Any, message_type: Any) -> bytes:
        del message_type
        return cast("bytes", message)

    def decode(self, data: bytes, message_type: Any) -> bytes:
        del message_type
        return data


class _Service:
    def __init__(self, path: str, answering: Answering) -> None:
        self._path = path
        self._answering = answering

    def __mapping__(self) -> dict[str, Handler]:
        return {self._path: Handler(self._answering, Cardinality.UNARY_STREAM, bytes, bytes)}


@asynccontextmanager
async def raw_server(
    machine: Machine, scratch: Path, path: str, answering: Answering
) -> AsyncIterator[str]:
    """A server with one method; yields where it is."""
    api = machine.api
    assert api is not None
    server = Server([_Service(path, answering)], codec=_Bytes())
    context = server_context(api.certificate, api.key, scratch, api.ca)
    await server.start("127.0.0.1", 0, ssl=context)
    listening = server._server
    assert listening is not None
    assert isinstance(listening, asyncio.Server)
    port = listening.sockets[0].getsockname()[1]
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.close()
        await server.wait_closed()
