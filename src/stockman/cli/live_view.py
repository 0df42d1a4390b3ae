"""The live view of a run: redrawn on a terminal, lines elsewhere, JSON for programs.

    async with live_view(LivePlan(plan=plan, stop=stop), clock, output) as watcher:
        outcome = await begin(home, plan, ports, Way(by=who(), stop=stop, watchers=(watcher,)))

It never stops a run: when its reader goes away it is silent from then on.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from stockman.cli.live_forms import EventView, FrameView, LineView, LivePlan, View
from stockman.cli.output import Output
from stockman.cli.screen import ReaderGone, Screen, current
from stockman.engine.entry import Entry
from stockman.engine.journal import Watcher
from stockman.model.errors import StockmanError
from stockman.ports.clock import Timekeeper

TICK = 0.1
"""Seconds between two frames, at least."""


@asynccontextmanager
async def live_view(
    watched: LivePlan, clock: Timekeeper, output: Output, screen: Screen | None = None
) -> AsyncIterator[Watcher]:
    """A watcher that shows a run while the block goes on."""
    view = _Harmless(view_for(watched, clock, output, screen or current()))
    ticking = asyncio.ensure_future(_ticks(view, clock))
    try:
        yield view.told
    finally:
        ticking.cancel()
        with suppress(asyncio.CancelledError):
            await ticking
        view.close()


def view_for(watched: LivePlan, clock: Timekeeper, output: Output, screen: Screen) -> View:
    """The view that fits what the user asked for and what the screen can do."""
    if output is Output.JSON:
        return EventView(screen)
    if screen.can_redraw:
        return FrameView(watched, clock, screen)
    return LineView(watched, clock, screen)


async def _ticks(view: View, clock: Timekeeper) -> None:
    while True:
        await clock.sleep(TICK)
        view.tick()


class _Harmless:
    """A view that falls silent when what it writes to is gone: whoever acts at the end is told."""

    def __init__(self, inner: View) -> None:
        self._inner = inner
        self._is_gone = False

    def told(self, entry: Entry) -> None:
        self._try(lambda: self._inner.told(entry))

    def tick(self) -> None:
        self._try(self._inner.tick)

    def close(self) -> None:
        self._try(self._inner.close)

    def _try(self, show: Callable[[], None]) -> None:
        if self._is_gone:
            return
        try:
            show()
        except (ReaderGone, StockmanError):
            self._is_gone = True
