"""The three forms of a live view: a frame that is redrawn, lines of a log, lines of JSON."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import Protocol

from stockman.cli.live.frame import FrameSize, FrameTime, frame
from stockman.cli.live.lines import LiveLines
from stockman.cli.live.progress import LiveProgress
from stockman.cli.output import Output
from stockman.cli.terminal.durations import format_estimate
from stockman.cli.terminal.live_area import LiveArea
from stockman.cli.terminal.screen import OutputClosed, Screen, current_screen
from stockman.cli.terminal.tables import Cell
from stockman.engine.context import StopRequest
from stockman.engine.journal import JournalEntry, Watcher, entry_json
from stockman.model.errors import StockmanError
from stockman.model.record import record
from stockman.ports.system import Clock, Timekeeper
from stockman.steps.plan import Plan

_SECOND = timedelta(seconds=1)
_MAX_SILENCE = timedelta(minutes=1)
"""How long a log says nothing at most while something is under way."""


@record
class LivePlan:
    """What is watched."""

    plan: Plan
    before: tuple[JournalEntry, ...] = ()
    """What the journal says already, of a run that is gone on with."""
    stop: StopRequest | None = None
    """Asked whether somebody wants the run to stop. None: nobody can."""

    @property
    def is_stopping(self) -> bool:
        return self.stop is not None and self.stop.is_asked


class View(Protocol):
    """Shows a run."""

    def told(self, entry: JournalEntry) -> None:
        """Show what happened."""
        ...

    def tick(self) -> None:
        """Show that time passes."""
        ...

    def close(self) -> None:
        """Show what is left to show, and leave the screen in order."""
        ...


class EventView:
    """Every entry as a line of JSON on stdout."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    def told(self, entry: JournalEntry) -> None:
        self._screen.data(entry_json(entry))

    def tick(self) -> None:
        return

    def close(self) -> None:
        return


class LineView:
    """Lines on stderr that stay, for logs."""

    def __init__(self, watched: LivePlan, clock: Clock, screen: Screen) -> None:
        self._watched = watched
        self._clock = clock
        self._screen = screen
        self._progress = LiveProgress(watched.plan, watched.before)
        self._lines = LiveLines(self._progress)
        self._last = clock.now()
        self._said_stop = False

    def told(self, entry: JournalEntry) -> None:
        line = self._lines.plain(entry)
        self._progress.add(entry)
        if line:
            self._say(line)

    def tick(self) -> None:
        now = self._clock.now()
        if self._watched.is_stopping and not self._said_stop:
            self._said_stop = True
            self._say(f"{now:%H:%M:%S} run: stops once what has begun is finished")
        elif self._progress.doing and now - self._last >= _MAX_SILENCE:
            self._say(
                f"{now:%H:%M:%S} run: {self._progress.finished} of"
                f" {len(self._watched.plan.steps)} steps, {len(self._progress.doing)} under way,"
                f" about {format_estimate(self._progress.left(now))} left"
            )

    def close(self) -> None:
        return

    def _say(self, line: str) -> None:
        self._last = self._clock.now()
        self._screen.note(line)


class FrameView:
    """A frame at the end of a terminal, below lines that stay.

    Entries are shown with the next tick, however many come in between.
    """

    def __init__(self, watched: LivePlan, clock: Clock, screen: Screen) -> None:
        self._watched = watched
        self._clock = clock
        self._screen = screen
        self._progress = LiveProgress(watched.plan, watched.before)
        self._lines = LiveLines(self._progress)
        self._area = LiveArea(screen)
        self._kept: list[Cell] = []
        self._is_fresh = False
        self._began = clock.now()
        self._seconds = 0
        """Whole seconds that the last frame showed."""

    def told(self, entry: JournalEntry) -> None:
        line = self._lines.kept(entry)
        self._progress.add(entry)
        self._is_fresh = True
        if line is not None:
            self._kept.append(line)

    def tick(self) -> None:
        seconds = (self._clock.now() - self._began) // _SECOND
        if self._is_fresh or seconds != self._seconds:
            self._seconds = seconds
            self._draw()

    def close(self) -> None:
        self._area.draw(self._kept, ())
        self._kept = []

    def _draw(self) -> None:
        self._is_fresh = False
        moment = FrameTime(
            now=self._clock.now(), began=self._began, is_stopping=self._watched.is_stopping
        )
        width = self._screen.notes_width or 0
        lines = frame(
            self._progress, moment, FrameSize(width=width, height=self._screen.notes_height)
        )
        self._area.draw(self._kept, lines)
        self._kept = []


TICK_SECONDS = 0.1
"""Seconds between two frames, at least."""


@asynccontextmanager
async def live_view(
    watched: LivePlan, clock: Timekeeper, output: Output, screen: Screen | None = None
) -> AsyncIterator[Watcher]:
    """A watcher that shows a run while the block goes on."""
    view = _SilencedView(view_for(watched, clock, output, screen or current_screen()))
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
        await clock.sleep(TICK_SECONDS)
        view.tick()


class _SilencedView:
    """A view that falls silent when what it writes to is gone: whoever acts at the end is told."""

    def __init__(self, inner: View) -> None:
        self._inner = inner
        self._is_gone = False

    def told(self, entry: JournalEntry) -> None:
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
        except (OutputClosed, StockmanError):
            self._is_gone = True
