"""The three forms of a live view: a frame that is redrawn, lines of a log, lines of JSON."""

from __future__ import annotations

from datetime import timedelta
from typing import Protocol

from stockman.cli.durations import about
from stockman.cli.live_area import LiveArea
from stockman.cli.live_frame import Moment, Room, frame
from stockman.cli.live_lines import LiveLines
from stockman.cli.live_progress import LiveProgress
from stockman.cli.screen import Screen
from stockman.cli.tables import Cell
from stockman.engine.entry import Entry
from stockman.engine.events import event_line
from stockman.engine.stop import Stop
from stockman.model.record import record
from stockman.ports.clock import Clock
from stockman.steps.plan import Plan

_SECOND = timedelta(seconds=1)
_SILENCE = timedelta(minutes=1)
"""How long a log says nothing at most while something is under way."""


@record
class LivePlan:
    """What is watched."""

    plan: Plan
    before: tuple[Entry, ...] = ()
    """What the journal says already, of a run that is gone on with."""
    stop: Stop | None = None
    """Asked whether somebody wants the run to stop. None: nobody can."""

    @property
    def is_stopping(self) -> bool:
        return self.stop is not None and self.stop.is_asked


class View(Protocol):
    """Shows a run."""

    def told(self, entry: Entry) -> None:
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

    def told(self, entry: Entry) -> None:
        self._screen.data(event_line(entry))

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

    def told(self, entry: Entry) -> None:
        line = self._lines.plain(entry)
        self._progress.add(entry)
        if line:
            self._say(line)

    def tick(self) -> None:
        now = self._clock.now()
        if self._watched.is_stopping and not self._said_stop:
            self._said_stop = True
            self._say(f"{now:%H:%M:%S} run: stops once what has begun is finished")
        elif self._progress.doing and now - self._last >= _SILENCE:
            self._say(
                f"{now:%H:%M:%S} run: {self._progress.finished} of"
                f" {len(self._watched.plan.steps)} steps, {len(self._progress.doing)} under way,"
                f" about {about(self._progress.left(now))} left"
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

    def told(self, entry: Entry) -> None:
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
        moment = Moment(
            now=self._clock.now(), began=self._began, is_stopping=self._watched.is_stopping
        )
        width = self._screen.notes_width or 0
        lines = frame(self._progress, moment, Room(width=width, height=self._screen.notes_height))
        self._area.draw(self._kept, lines)
        self._kept = []
