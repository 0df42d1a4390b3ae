"""One clock for steps that run side by side."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from datetime import datetime, timedelta
from heapq import heappop, heappush

from stockman.ports.system import Timekeeper

_TURNS = 4
"""How often everybody else gets a turn before time is let pass."""


class SharedClock:
    """A `Timekeeper` that many sleep on at once: time passes once for all of them.

    A simulated clock moves on when somebody sleeps, so two who sleep side by side would make it
    pass twice. Here one of the sleepers lets it pass, up to the first who wants to wake.
    """

    def __init__(self, inner: Timekeeper) -> None:
        self._inner = inner
        self._sleepers: list[tuple[datetime, int, asyncio.Future[None]]] = []
        self._count = 0
        self._leader: asyncio.Future[None] | None = None
        """Done when whoever lets time pass does so no longer. None: nobody ever did."""
        self._earlier = asyncio.Event()
        """Set when somebody wants to wake before everybody else."""

    def now(self) -> datetime:
        return self._inner.now()

    async def sleep(self, seconds: float) -> None:
        until = self.now() + timedelta(seconds=seconds)
        own: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._count += 1
        heappush(self._sleepers, (until, self._count, own))
        if self._sleepers[0][2] is own:
            self._earlier.set()
        try:
            while not own.done():
                if self._leader is None or self._leader.done():
                    await self._lead(own)
                else:
                    await asyncio.wait((own, self._leader), return_when=asyncio.FIRST_COMPLETED)
        finally:
            own.cancel()

    async def _lead(self, own: asyncio.Future[None]) -> None:
        """Let time pass for all until it is our own time to wake."""
        self._leader = asyncio.get_running_loop().create_future()
        try:
            while not own.done():
                self._wake()
                for _ in range(_TURNS):
                    await yield_turn()
                if not own.done():
                    await self._pass(self._sleepers[0][0])
        finally:
            self._leader.set_result(None)

    async def _pass(self, until: datetime) -> None:
        """Let time pass until a moment, or until somebody wants to wake before it."""
        seconds = (until - self.now()).total_seconds()
        if seconds <= 0:
            return
        self._earlier.clear()
        sleeping = asyncio.ensure_future(self._inner.sleep(seconds))
        earlier = asyncio.ensure_future(self._earlier.wait())
        try:
            await asyncio.wait((sleeping, earlier), return_when=asyncio.FIRST_COMPLETED)
        finally:
            sleeping.cancel()
            earlier.cancel()

    def _wake(self) -> None:
        while self._sleepers and (
            self._sleepers[0][2].done() or self._sleepers[0][0] <= self.now()
        ):
            _, _, sleeper = heappop(self._sleepers)
            if not sleeper.done():
                sleeper.set_result(None)


class _Turn:
    def __await__(self) -> Generator[None]:
        yield


def yield_turn() -> _Turn:
    """Await this to let everybody else do what they can do now."""
    return _Turn()
