"""How time in the world follows time outside: as fast as possible, alike, or faster."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from stockman_lab.world.world import World

_MOST_AT_ONCE = 200_000
_LONGEST_SLEEP = 3600.0
"""Seconds after which the clock is looked at, however far the next thing is."""


class Pace:
    """Moves the clock of a world while it is served.

    `speed` is how many seconds pass inside for one outside. None: whatever is on its way has
    happened as soon as nobody else wants something, and nobody waits for anything; besides that,
    time passes as it does outside.
    """

    def __init__(self, world: World, speed: float | None) -> None:
        self._world = world
        self._loop = asyncio.get_running_loop()
        self._speed = speed
        self._inside = world.now
        self._outside = self._loop.time()
        self._timer: asyncio.TimerHandle | asyncio.Handle | None = None
        self._held_until = 0.0
        self.listeners: list[Callable[[], None]] = []
        """Called after something happened in the world by itself."""

    @property
    def speed(self) -> float | None:
        return self._speed

    @property
    def now(self) -> float:
        """The moment that it is inside."""
        return self._world.now

    def set_speed(self, speed: float | None) -> None:
        """Go on at another speed."""
        self.catch_up()
        self._speed = speed
        self._count_from_here()
        self.go_on()

    def catch_up(self) -> None:
        """Bring the world up to this moment; called before anybody looks at it."""
        passed = (self._loop.time() - self._outside) * (self._speed or 1.0)
        moment, upcoming = self._inside + passed, self._world.timeline.soonest_at
        self._world.timeline.run_until(moment)
        if upcoming is not None and upcoming <= moment:
            self._tell()

    def jump(self, seconds: float) -> None:
        """Let time inside pass at once."""
        self.catch_up()
        self._world.advance(seconds)
        self._count_from_here()
        self._tell()
        self.go_on()

    def hold(self, seconds: float) -> None:
        """Let nothing more than real time pass for so long, even if all is to happen at once.

        Clients start something first and then ask to be told how it goes; that takes them a
        moment of real time, and until then it must not be over.
        """
        self._held_until = max(self._held_until, self._loop.time() + seconds)
        if self._speed is None and self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self.go_on()

    def go_on(self) -> None:
        """See to it that what is planned happens; called after anything was planned."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        timeline = self._world.timeline
        if self._speed is None and timeline.next_at is not None:
            held = self._held_until - self._loop.time()
            if held > 0:
                self._timer = self._loop.call_later(held, self._happen)
            else:
                self._timer = self._loop.call_soon(self._happen)
        elif timeline.soonest_at is not None:
            ahead = max(timeline.soonest_at - self._world.now, 0.0) / (self._speed or 1.0)
            self._timer = self._loop.call_later(min(ahead, _LONGEST_SLEEP), self._happen)

    async def wait(self, seconds: float) -> None:
        """Let so many seconds pass inside."""
        if self._speed is None:
            self._world.advance(seconds)
            self._count_from_here()
            self._tell()
            return
        until: asyncio.Future[None] = self._loop.create_future()
        timer = self._loop.call_later(seconds / self._speed, _wake, until)
        try:
            await until
        finally:
            timer.cancel()
        self.catch_up()

    def _count_from_here(self) -> None:
        self._inside, self._outside = self._world.now, self._loop.time()

    def stop(self) -> None:
        """Let the world stand still."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _happen(self) -> None:
        self._timer = None
        if self._speed is None and self._world.timeline.next_at is not None:
            self._settle()
            self._count_from_here()
            self._tell()
        else:
            self.catch_up()
        self.go_on()

    def _settle(self) -> None:
        """Let everything happen, up to where somebody outside has to see how things are."""
        timeline = self._world.timeline
        for _ in range(_MOST_AT_ONCE):
            pause = self._world.talos.taken_pause()
            if timeline.next_at is None:
                return
            if pause:
                self.hold(pause)
                return
            timeline.run_until(timeline.next_at)
        raise RuntimeError("the world never comes to rest")

    def _tell(self) -> None:
        for listener in self.listeners:
            listener()


def _wake(until: asyncio.Future[None]) -> None:
    if not until.done():
        until.set_result(None)


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
