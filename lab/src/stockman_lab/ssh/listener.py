"""The SSH door of one host: open at once, and manned when somebody comes.

The library behind it takes longer to load than everything else in a lab, so it is not loaded
before the first connection.
"""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from stockman_lab.ssh.programs.console import Console
    from stockman_lab.ssh.server import Listening

SSH_PORT = 2222
_BACKLOG = 64


class SshListener:
    """Listens on the address of a host."""

    def __init__(self, console: Callable[[], Console], seen: Callable[[str], None]) -> None:
        self._console = console
        self._seen = seen
        self._socket: socket.socket | None = None
        self._opening: asyncio.Future[Listening] | None = None

    def start(self, address: str, port: int) -> int:
        """Listen; returns the port. Raises `OSError` where that is not possible."""
        listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind((address, port))
            listening.listen(_BACKLOG)
            listening.setblocking(False)
        except OSError:
            listening.close()
            raise
        self._socket = listening
        asyncio.get_running_loop().add_reader(listening, self._man)
        return int(listening.getsockname()[1])

    async def stop(self) -> None:
        """Close the door, and every connection through it."""
        if self._socket is None:
            return
        asyncio.get_running_loop().remove_reader(self._socket)
        if self._opening is not None:
            await (await self._opening).stop()
        self._socket.close()
        self._socket = None

    def _man(self) -> None:
        """Somebody is at the door: what waits there is served by who comes now."""
        if self._socket is None or self._opening is not None:
            return
        asyncio.get_running_loop().remove_reader(self._socket)
        from stockman_lab.ssh.server import listening

        self._opening = asyncio.ensure_future(listening(self._console(), self._socket, self._seen))
