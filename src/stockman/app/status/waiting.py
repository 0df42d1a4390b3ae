"""Looking again and again, until everything works or time is up."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from datetime import timedelta

from stockman.app.status.looking import Looker
from stockman.app.status.status import Status

PAUSE = 3.0
"""Seconds between two looks."""

Told = Callable[[Status, timedelta], None]
"""Is told of every look, and how long it has been."""


async def awaited(looker: Looker, longest: timedelta, told: Told, pause: float = PAUSE) -> Status:
    """The first look at which everything works, or the last one before time was up."""
    clock = looker.clock
    began = clock.now()
    while True:
        found = await looker.status()
        passed = clock.now() - began
        told(found, passed)
        if found.healthy or passed + timedelta(seconds=pause) > longest:
            return found
        await clock.sleep(pause)


async def watched(looker: Looker, pause: float = PAUSE) -> AsyncIterator[Status]:
    """Looks, for ever."""
    while True:
        yield await looker.status()
        await looker.clock.sleep(pause)
