"""Waiting for a cluster, on the screen: a tree that is redrawn, or seldom lines in a log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from stockman.cli.status.view import STYLES
from stockman.cli.terminal.durations import format_duration
from stockman.cli.terminal.live_area import LiveArea
from stockman.cli.terminal.screen import Screen
from stockman.cli.terminal.styles import display_width, escape_control
from stockman.cli.terminal.tables import Cell

if TYPE_CHECKING:
    from stockman.assessment.status.status import Status

_SILENCE = timedelta(minutes=1)
_MAX_PROBLEMS_PER_PART = 4
"""Problems that are named below a part."""
_CUT = "..."


class WaitingTree:
    """Parts with what each waits for, drawn over at every look."""

    def __init__(self, screen: Screen, longest: timedelta) -> None:
        self._screen = screen
        self._longest = longest
        self._area = LiveArea(screen)

    def __call__(self, status: Status, passed: timedelta) -> None:
        """Draw what was seen."""
        width = (self._screen.notes_width or 80) - 1
        room = max(self._screen.notes_height - 1, 1)
        lines = [_fit(line, width) for line in self._tree(status, passed)]
        if len(lines) > room:
            lines = [*lines[: room - 1], [Cell(f"and {len(lines) - room + 1} lines more", "faint")]]
        self._area.draw((), lines)

    def close(self) -> None:
        """Leave the screen as if nothing had been drawn."""
        self._area.draw((), ())

    def _tree(self, status: Status, passed: timedelta) -> Iterator[Sequence[Cell]]:
        spent, longest = passed.total_seconds(), self._longest.total_seconds()
        yield [
            Cell(
                f"waits until everything works: {format_duration(spent)} of {format_duration(longest)}"
            )
        ]
        for part in status.parts:
            health = part.health.value
            yield [
                Cell(f"  {health:<8}", STYLES[health]),
                Cell(f" {part.title:<13}", "heading"),
                Cell(part.seen),
            ]
            findings = [one for one in part.findings if one.problem.is_error]
            for one in findings[:_MAX_PROBLEMS_PER_PART]:
                yield [Cell(f"{'':12}- {one.problem.what}: {one.problem.why}")]
            if len(findings) > _MAX_PROBLEMS_PER_PART:
                yield [Cell(f"{'':12}and {len(findings) - _MAX_PROBLEMS_PER_PART} more", "faint")]


class WaitingLines:
    """A line when something changed, and one a minute otherwise."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._last = ""
        self._told = -_SILENCE

    def __call__(self, status: Status, passed: timedelta) -> None:
        """Tell what was seen, if that is worth a line."""
        waits = [f"{one.title}: {one.seen}" for one in status.parts if not one.is_good]
        text = "; ".join(waits)
        if text and (text != self._last or passed - self._told >= _SILENCE):
            self._screen.note(f"{status.at:%H:%M:%S} waits for {escape_control(text)}")
            self._last, self._told = text, passed

    def close(self) -> None:
        """Nothing is left to tell."""


def waiting_view(screen: Screen, longest: timedelta) -> WaitingTree | WaitingLines:
    """What fits the screen."""
    return WaitingTree(screen, longest) if screen.can_redraw else WaitingLines(screen)


def _fit(line: Sequence[Cell], width: int) -> list[Cell]:
    made = []
    for cell in line:
        text = escape_control(cell.text)
        if display_width(text) > width:
            while text and display_width(text) + len(_CUT) > width:
                text = text[:-1]
            text = (text + _CUT)[: max(width, 0)]
        made.append(cell._replace(text=text))
        width -= display_width(text)
    return made
