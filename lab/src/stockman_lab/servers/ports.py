"""Where doors open: at the address of who is behind them, as far as this machine has it."""

from __future__ import annotations

import errno
from collections.abc import Awaitable, Callable


class PortTaken(Exception):
    """Somebody else listens where a host should answer."""

    def __init__(self, address: str, port: int) -> None:
        super().__init__(f"{address}:{port}")
        self.address = address
        self.port = port


_LOCALHOST = "127.0.0.1"


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
