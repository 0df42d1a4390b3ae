"""One connection of a gRPC client: TLS on buffers, and HTTP/2 inside of it.

The TLS of asyncio drops the alerts that tell a client why it is not let in; this one sends them.
"""

from __future__ import annotations

import asyncio
import ssl
from typing import TYPE_CHECKING, Protocol, cast

from grpclib.config import Configuration
from grpclib.protocol import H2Protocol
from h2.config import H2Configuration
from h2.exceptions import H2Error
from h2.settings import SettingCodes

from stockman_lab.http.tls import Broken, Tls

if TYPE_CHECKING:
    from grpclib.protocol import AbstractHandler

_CONFIGURATION = Configuration(_keepalive_time=None).__for_server__()
_HTTP2 = H2Configuration(
    client_side=False,
    header_encoding="ascii",
    validate_inbound_headers=False,
    validate_outbound_headers=False,
    normalize_inbound_headers=False,
    normalize_outbound_headers=False,
)
_MANY_CALLS: dict[SettingCodes | int, int] = {SettingCodes.MAX_CONCURRENT_STREAMS: (1 << 31) - 1}
"""The real one has no limit, and the library of HTTP/2 a low one."""
_GARBLED = (H2Error, UnicodeDecodeError, NotImplementedError, KeyError, ValueError)
"""What the library ends with on frames that make no sense."""


_MOST_UNSENT = 512 * 1024
"""Bytes on their way to the socket after which nothing more is said."""
_UNTIL_READ = 1.0
"""Seconds in which a client has read why it is not let in."""


class Doorkeeper(Protocol):
    """Who decides about connections."""

    def arrived(self, line: Line) -> ssl.SSLContext | None:
        """How to speak TLS with a new client. None: nobody is at home."""

    def admitted(self, line: Line) -> AbstractHandler | None:
        """Who answers a client that is now known. None: nobody."""

    def gone(self, line: Line) -> None: ...


class _Outlet(asyncio.Transport):
    """What HTTP/2 writes to: everything is sealed on its way to the socket."""

    def __init__(self, line: Line) -> None:
        super().__init__()
        self._line = line

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self._line.send(bytes(data))

    def close(self) -> None:
        self._line.leave()

    def abort(self) -> None:
        self._line.cut()

    def is_closing(self) -> bool:
        return self._line.is_closing

    def get_extra_info(self, name: str, default: object = None) -> object:
        return self._line.extra(name, default)


class Line(asyncio.Protocol):
    """The bytes of one client."""

    def __init__(self, keeper: Doorkeeper) -> None:
        self._keeper = keeper
        self._transport: asyncio.Transport | None = None
        self._tls: Tls | None = None
        self._inside: H2Protocol | None = None
        self._linger: asyncio.TimerHandle | None = None

    @property
    def peer(self) -> str:
        """Address of the client."""
        extra = self.extra("peername")
        return str(extra[0]) if isinstance(extra, tuple) else ""

    @property
    def peer_certificate(self) -> bytes | None:
        return None if self._tls is None else self._tls.peer_certificate

    @property
    def is_closing(self) -> bool:
        return self._transport is None or self._transport.is_closing()

    def extra(self, name: str, default: object = None) -> object:
        return default if self._transport is None else self._transport.get_extra_info(name, default)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._transport.set_write_buffer_limits(_MOST_UNSENT)
        context = self._keeper.arrived(self)
        if context is None:
            self._transport.abort()
            return
        self._tls = Tls(context)

    def data_received(self, data: bytes) -> None:
        tls, transport = self._tls, self._transport
        if tls is None or transport is None:
            return
        try:
            plain = tls.opened(data)
        except Broken:
            self._refuse(tls, transport)
            return
        self._write(tls.owed())
        if self._inside is None and tls.secured and not self._begin():
            return
        if plain and self._inside is not None:
            self._feed(self._inside, plain)
        if tls.ended:
            self.leave()

    def pause_writing(self) -> None:
        if self._inside is not None:
            self._inside.pause_writing()

    def resume_writing(self) -> None:
        if self._inside is not None:
            self._inside.resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._inside is not None:
            self._inside.connection_lost(exc)
        if self._linger is not None:
            self._linger.cancel()
        self._transport = None
        self._keeper.gone(self)

    def send(self, data: bytes) -> None:
        """Seal something, and send it."""
        if self._tls is None or self.is_closing:
            return
        try:
            self._write(self._tls.sealed(data))
        except Broken:
            self.cut()

    def leave(self) -> None:
        """Say farewell, and close when all is sent."""
        if self._transport is None or self._tls is None or self.is_closing:
            return
        self._write(self._tls.farewell())
        self._transport.close()

    def cut(self) -> None:
        """Break off."""
        if self._transport is not None:
            self._transport.abort()

    def _refuse(self, tls: Tls, transport: asyncio.Transport) -> None:
        """Say why, and wait until it was read: who finds the line closed looks no further."""
        self._write(tls.owed())
        self._tls = None
        if transport.can_write_eof():
            transport.write_eof()
        loop = asyncio.get_running_loop()
        self._linger = loop.call_later(_UNTIL_READ, transport.abort)

    def _begin(self) -> bool:
        handler = self._keeper.admitted(self)
        if handler is None:
            self.cut()
            return False
        self._inside = H2Protocol(handler, _CONFIGURATION, _HTTP2)
        self._inside.connection_made(_Outlet(self))
        self._inside.connection._connection.update_settings(_MANY_CALLS)
        self._inside.connection.flush()
        return True

    def _feed(self, inside: H2Protocol, plain: bytes) -> None:
        try:
            inside.data_received(plain)
        except _GARBLED:
            inside.processor.close("Protocol error")

    def _write(self, sealed: bytes) -> None:
        if sealed and self._transport is not None:
            self._transport.write(sealed)
