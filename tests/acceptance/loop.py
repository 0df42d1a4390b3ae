"""An event loop whose time is that of a world: when nobody has anything to do, it passes."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, TypeVar

from stockman_lab.world.world import World

T = TypeVar("T")
_REAL_WAIT = 5.0
"""Seconds of real time that another program may take."""
_RESOLUTION = 1e-6
"""Seconds: moments of a world are numbers of seconds since 1970, which are no more exact."""


class _WorldSelector(selectors.DefaultSelector):
    """Waits for nobody but other programs: the time that a loop would wait passes in the world."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self.world = world
        self.outside = 0
        """How many other programs are asked right now."""

    def select(self, timeout: float | None = None) -> Any:
        select = super().select(0)
        if select or timeout == 0:
            return select
        if self.outside:
            return super().select(_REAL_WAIT)
        if timeout is None:
            raise RuntimeError("everybody waits for ever")
        self.world.advance(max(timeout, _RESOLUTION))
        return select


class WorldLoop(asyncio.SelectorEventLoop):
    """Timers, timeouts and sleepers go by the clock of a world."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._begin = world.now
        self._by_world = _WorldSelector(world)
        super().__init__(self._by_world)
        self._clock_resolution = _RESOLUTION

    def time(self) -> float:
        return self._world.now - self._begin

    @contextmanager
    def asking_outside(self) -> Iterator[None]:
        """Wait for another program in real time, while the world stands still."""
        self._by_world.outside += 1
        try:
            yield
        finally:
            self._by_world.outside -= 1


class LoopClock:
    """A `Timekeeper` by the time of a world, in a loop that goes by it."""

    def __init__(self, world: World) -> None:
        self._world = world

    def now(self) -> datetime:
        return datetime.fromtimestamp(self._world.now, UTC)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)  # noqa: TID251  # this is the clock


def in_world(world: World, work: Coroutine[Any, Any, T]) -> T:
    """Run something by the time of a world."""
    with asyncio.Runner(loop_factory=lambda: WorldLoop(world)) as runner:
        return runner.run(work)
