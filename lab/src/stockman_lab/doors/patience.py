"""How calls wait in a world that is served."""

from __future__ import annotations

import asyncio

from stockman_lab.doors.pace import Pace


class ServedPatience:
    """Lets calls wait for time, or for anything to change."""

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._change: asyncio.Future[None] | None = None

    async def sleep(self, seconds: float) -> None:
        """Let so many seconds pass in the world."""
        await self._pace.wait(seconds)

    async def changed(self) -> None:
        """Return as soon as anything in the world is different."""
        if self._change is None:
            self._change = asyncio.get_running_loop().create_future()
        self._pace.go_on()
        await asyncio.shield(self._change)

    def wake(self) -> None:
        """Tell all who wait that something changed."""
        change, self._change = self._change, None
        if change is not None and not change.done():
            change.set_result(None)
