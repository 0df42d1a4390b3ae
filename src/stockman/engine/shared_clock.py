"""One clock for steps that run in parallel."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from datetime import datetime, timedelta
from heapq import heappop, heappush

from stockman.ports.system import Timekeeper

_TURNS = 4
"""Turns of the event loop for other tasks before time advances."""


class SharedClock:
    """A `Timekeeper` for parallel sleepers: time advances once for all of them.

    A simulated clock advances during each sleep, so two parallel sleeps would advance it twice.
    Here one of the sleepers, the leader, sleeps on the inner clock until the first one wakes.
    """

    def __init__(self, inner: Timekeeper) -> None:
        self._inner = inner
        self._sleepers: list[tuple[datetime, int, asyncio.Future[None]]] = []
        self._count = 0
        self._leader: asyncio.Future[None] | None = None
        """Done when the leader stops leading. None: there was no leader yet."""
        self._earlier = asyncio.Event()
        """Set when a new sleeper wakes before all others."""

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
        """Advance time for all sleepers until the own one wakes."""
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
        """Sleep until a time, or until a new sleeper wakes earlier."""
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
    """Await this to let all other ready tasks run once."""
    return _Turn()
