"""A bell: wakes everybody who waits for something to happen."""

from __future__ import annotations

import asyncio


class Bell:
    """Rings for those who wait now; whoever comes later waits for the next time."""

    def __init__(self) -> None:
        self._waiting: list[asyncio.Future[None]] = []

    def ring(self) -> None:
        """Wake all."""
        if not self._waiting:
            return
        waiting, self._waiting = self._waiting, []
        for item in waiting:
            if not item.done():
                item.set_result(None)

    async def rung(self) -> None:
        """Wait for it."""
        future = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        try:
            await future
        finally:
            if future in self._waiting:
                self._waiting.remove(future)
