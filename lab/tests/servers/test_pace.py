"""A world can be held for a moment, and tells when something happened in it."""

from __future__ import annotations

import asyncio

from stockman_lab.core.timeline import Arguments, Timeline, TimelineState
from stockman_lab.servers.pace import Pace
from stockman_lab.world.world import World


class Noted:
    """A world in which what happens is noted."""

    def __init__(self) -> None:
        self.world = World.new()
        self.seen: list[str] = []
        self.world.timeline = Timeline(TimelineState(now=self.world.now), self._happen)

    def _happen(self, name: str, arguments: Arguments) -> None:
        del arguments
        self.seen.append(name)


async def turns(count: int) -> None:
    """Let the loop go round."""
    for _ in range(count):
        passed = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_soon(passed.set_result, None)
        await passed


def test_everything_happens_at_once_if_nobody_holds_it() -> None:
    noted = Noted()

    async def run() -> None:
        pace = Pace(noted.world, None)
        noted.world.timeline.after(60.0, "boot", {})
        pace.go_on()
        await turns(3)

    asyncio.run(run())

    assert noted.seen == ["boot"]


def test_what_is_held_waits_also_if_it_was_about_to_happen() -> None:
    noted = Noted()

    async def run() -> list[str]:
        pace = Pace(noted.world, None)
        noted.world.timeline.after(60.0, "boot", {})
        pace.go_on()
        pace.hold(0.02)
        pace.go_on()
        await turns(5)
        held = list(noted.seen)
        happened = asyncio.get_running_loop().create_future()
        pace.listeners.append(lambda: happened.set_result(None))
        async with asyncio.timeout(10):
            await happened
        return held

    assert asyncio.run(run()) == []
    assert noted.seen == ["boot"]


def test_listeners_hear_of_what_happened_by_itself() -> None:
    noted = Noted()
    heard: list[list[str]] = []

    async def run() -> None:
        pace = Pace(noted.world, None)
        pace.listeners.append(lambda: heard.append(list(noted.seen)))
        noted.world.timeline.after(60.0, "boot", {})
        pace.go_on()
        await turns(3)
        pace.catch_up()
        noted.world.timeline.after(60.0, "up", {})
        await pace.wait(120.0)

    asyncio.run(run())

    assert heard == [["boot"], ["boot", "up"]]
