"""An open port that hands its connections to somebody, opened and closed without waiting."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress


class PortTaken(Exception):
    """Somebody else listens where a host should answer."""

    def __init__(self, address: str, port: int) -> None:
        super().__init__(f"{address}:{port}")
        self.address = address
        self.port = port


async def opened(
    start: Callable[[str, int], Awaitable[int]], address: str, port: int
) -> tuple[str, int]:
    """Where a door is: at its own address, or where this machine has no such one, at any."""
    try:
        return address, await start(address, port)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise PortTaken(address, port) from None
        if error.errno != errno.EADDRNOTAVAIL:
            raise
    return _LOCALHOST, await start(_LOCALHOST, 0)


_BACKLOG = 128
_LOCALHOST = "127.0.0.1"
_AT_ONCE = 64
_BREATH = 1.0


class Listener:
    """Listens at one address."""

    def __init__(self, address: str, port: int, make: Callable[[], asyncio.Protocol]) -> None:
        """Opens it; at another port of this machine where it has no such address."""
        self._loop = asyncio.get_running_loop()
        self._make = make
        self._arriving: set[asyncio.Task[object]] = set()
        try:
            self._socket = _bound(address, port)
        except OSError as error:
            if error.errno != errno.EADDRNOTAVAIL:
                raise
            self._socket = _bound(_LOCALHOST, 0)
        name = self._socket.getsockname()
        self.address, self.port = str(name[0]), int(name[1])
        self._listen()

    def close(self) -> None:
        """Let nobody new in; who came is not affected."""
        if self._socket.fileno() < 0:
            return
        self._loop.remove_reader(self._socket.fileno())
        self._socket.close()
        for task in self._arriving:
            task.cancel()

    def _listen(self) -> None:
        if self._socket.fileno() >= 0:
            self._loop.add_reader(self._socket.fileno(), self._accept)

    def _accept(self) -> None:
        for _ in range(_AT_ONCE):
            try:
                connection, _ = self._socket.accept()
            except BlockingIOError:
                return
            except OSError:
                # Too many files are open: whoever waits goes on waiting.
                self._loop.remove_reader(self._socket.fileno())
                self._loop.call_later(_BREATH, self._listen)
                return
            connection.setblocking(False)
            with suppress(OSError):
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            coming = self._loop.connect_accepted_socket(self._make, connection)
            task: asyncio.Task[object] = asyncio.ensure_future(coming)
            self._arriving.add(task)
            task.add_done_callback(self._arriving.discard)


def _bound(address: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.setblocking(False)
        bound.bind((address, port))
        bound.listen(_BACKLOG)
    except OSError:
        bound.close()
        raise
    return bound
