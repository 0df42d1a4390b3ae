"""Show a run while it is executed: redrawn on a terminal, lines in a pipe, JSON for programs.

The view never stops a run: when its output is closed, it stops printing.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import Protocol

from stockman.cli.live.frame import FrameSize, FrameTime, LiveArea, frame
from stockman.cli.live.progress import LiveLines, LiveProgress
from stockman.cli.output import Output
from stockman.cli.terminal.screen import OutputClosed, Screen, current_screen
from stockman.cli.terminal.styles import format_estimate
from stockman.cli.terminal.tables import Cell
from stockman.engine.context import StopRequest
from stockman.engine.journal import JournalEntry, Watcher, entry_json
from stockman.model.errors import StockmanError
from stockman.model.record import record
from stockman.ports.system import Clock, Timekeeper
from stockman.steps.plan import Plan

_SECOND = timedelta(seconds=1)
_MAX_SILENCE = timedelta(minutes=1)
"""Longest time without a log line while steps are running."""


@record
class LivePlan:
    """A plan that is executed, as the live view needs it."""

    plan: Plan
    before: tuple[JournalEntry, ...] = ()
    """Journal entries of a resumed run."""
    stop: StopRequest | None = None
    """Tells that the user asked the run to stop. None: it cannot be stopped."""

    @property
    def is_stopping(self) -> bool:
        return self.stop is not None and self.stop.is_requested


class View(Protocol):
    """Shows a run."""

    def show(self, entry: JournalEntry) -> None:
        """Show a journal entry."""
        ...

    def tick(self) -> None:
        """Update times."""
        ...

    def close(self) -> None:
        """Show what is pending, and restore the screen."""
        ...


class EventView:
    """Print every journal entry as a JSON line on stdout."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    def show(self, entry: JournalEntry) -> None:
        self._screen.data(entry_json(entry))

    def tick(self) -> None:
        return

    def close(self) -> None:
        return


class LineView:
    """Print lines on stderr, for logs."""

    def __init__(self, watched: LivePlan, clock: Clock, screen: Screen) -> None:
        self._watched = watched
        self._clock = clock
        self._screen = screen
        self._progress = LiveProgress(watched.plan, watched.before)
        self._lines = LiveLines(self._progress)
        self._last = clock.now()
        self._stop_announced = False

    def show(self, entry: JournalEntry) -> None:
        line = self._lines.log_line(entry)
        self._progress.add(entry)
        if line:
            self._print(line)

    def tick(self) -> None:
        now = self._clock.now()
        if self._watched.is_stopping and not self._stop_announced:
            self._stop_announced = True
            self._print(f"{now:%H:%M:%S} run: stopping after the running steps")
        elif self._progress.running and now - self._last >= _MAX_SILENCE:
            self._print(
                f"{now:%H:%M:%S} run: {self._progress.finished} of "
                f"{len(self._watched.plan.steps)} steps done, {len(self._progress.running)} "
                f"running, about {format_estimate(self._progress.seconds_left(now))} left"
            )

    def close(self) -> None:
        return

    def _print(self, line: str) -> None:
        self._last = self._clock.now()
        self._screen.note(line)


class FrameView:
    """Redraw a frame at the bottom of a terminal, below lines that stay.

    New entries are shown with the next tick, however many there are.
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
        """Elapsed seconds in the last frame."""

    def show(self, entry: JournalEntry) -> None:
        line = self._lines.permanent_line(entry)
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
"""Shortest time between two frames, in seconds."""


@asynccontextmanager
async def live_view(
    watched: LivePlan, clock: Timekeeper, output: Output, screen: Screen | None = None
) -> AsyncIterator[Watcher]:
    """Show a run inside of the block; yields the watcher to pass to the run."""
    view = _SilencedView(view_for(watched, clock, output, screen or current_screen()))
    ticking = asyncio.ensure_future(_ticks(view, clock))
    try:
        yield view.show
    finally:
        ticking.cancel()
        with suppress(asyncio.CancelledError):
            await ticking
        view.close()


def view_for(watched: LivePlan, clock: Timekeeper, output: Output, screen: Screen) -> View:
    """Return the view for the requested output and the abilities of the screen."""
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
    """A view that stops printing when its output is closed; the error is reported at the end."""

    def __init__(self, inner: View) -> None:
        self._inner = inner
        self._is_gone = False

    def show(self, entry: JournalEntry) -> None:
        self._try(lambda: self._inner.show(entry))

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
