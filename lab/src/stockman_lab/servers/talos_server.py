"""One port of one machine, open for as long as a boot lasts."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from stockman.crypto.pem import NotPem
from stockman_lab.servers.listener import Listener
from stockman_lab.talos.api.call import MAINTENANCE, ApiMachine, IncomingCall, Served
from stockman_lab.talos.api.maintenance import has_own_server
from stockman_lab.talos.security.tls import server_context

if TYPE_CHECKING:
    from grpclib.protocol import AbstractHandler

    from stockman_lab.servers.grpc_line import Line

Answered: TypeAlias = Callable[[ApiMachine, IncomingCall], AsyncGenerator[bytes, None]]

_FAREWELL = 0.05
"""Seconds of real time for what is to be said yet when a machine goes down."""


@dataclass(frozen=True, slots=True)
class Manner:
    """How a door is kept."""

    answered: Answered
    scratch: Path


class TalosServer:
    """Lets callers of one machine in, at one address."""

    def __init__(self, machine: ApiMachine, address: str, port: int, manner: Manner) -> None:
        self.machine = machine
        self._manner = manner
        self._lines: set[Line] = set()
        self._context: tuple[tuple[str, str], ssl.SSLContext] | None = None
        self._listener = Listener(address, port, self._line)
        self._farewell: asyncio.TimerHandle | None = None

    @property
    def place(self) -> tuple[str, int]:
        """Where it really is."""
        return self._listener.address, self._listener.port

    @property
    def lines(self) -> int:
        """How many callers are connected."""
        return len(self._lines)

    def close(self) -> None:
        """Let nobody in any more, and break off with who is there a moment later."""
        self._listener.close()
        if self._lines:
            loop = asyncio.get_running_loop()
            self._farewell = loop.call_later(_FAREWELL, self.cut)

    def cut(self) -> None:
        """Break off with everybody at once."""
        self._listener.close()
        if self._farewell is not None:
            self._farewell.cancel()
        for line in tuple(self._lines):
            line.cut()

    def _line(self) -> Line:
        # What speaks gRPC is imported for the first who comes: doors open without it.
        from stockman_lab.servers.grpc_line import Line

        return Line(self)

    # --- for connections --------------------------------------------------------------------------

    def arrived(self, line: Line) -> ssl.SSLContext | None:
        """TLS under the certificate that the machine has now. None: it can have none."""
        api = self.machine.api
        if api is None:
            return None
        try:
            tls = self._tls(api)
        except (NotPem, ssl.SSLError):
            return None  # its configuration holds something else than an authority
        self._lines.add(line)
        return tls

    def _tls(self, api: Served) -> ssl.SSLContext:
        secured = api.mode != MAINTENANCE
        key = (api.certificate, api.ca if secured else "")
        if self._context is None or self._context[0] != key:
            ssl_context = server_context(
                api.certificate, api.key, self._manner.scratch, api.ca if secured else None
            )
            self._context = (key, ssl_context)
        return self._context[1]

    def admitted(self, line: Line) -> AbstractHandler | None:
        """The calls of a caller whose certificate was verified."""
        from stockman_lab.servers.grpc_calls import Calls
        from stockman_lab.talos.security.tls import NotForClients, expires_at, roles_in

        shown = line.peer_certificate
        if shown is not None and expires_at(shown) < self.machine.clock:
            return None  # its time is over in the world, whatever the clock outside says
        try:
            roles = frozenset[str]() if shown is None else roles_in(shown)
        except NotForClients:
            return None
        return Calls(self._answer, line.cut, line.peer, roles, is_proxy=self._is_proxy)

    def gone(self, line: Line) -> None:
        self._lines.discard(line)

    def _answer(self, incoming: IncomingCall) -> AsyncGenerator[bytes, None]:
        return self._manner.answered(self.machine, incoming)

    @property
    def _is_proxy(self) -> bool:
        api = self.machine.api
        in_maintenance = api is not None and api.mode == MAINTENANCE
        by_itself = in_maintenance and has_own_server(self.machine.minor)
        return not by_itself
