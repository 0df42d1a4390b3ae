"""Waiting for a cluster, on the screen: a tree that is redrawn, or seldom lines in a log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from stockman.cli.durations import duration
from stockman.cli.live_area import LiveArea
from stockman.cli.paint import visible, wide
from stockman.cli.screen import Screen
from stockman.cli.status_view import STYLES
from stockman.cli.tables import Cell

if TYPE_CHECKING:
    from stockman.app.status.status import Status

_SILENCE = timedelta(minutes=1)
_PER_PART = 4
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
        lines = [_fitted(line, width) for line in self._tree(status, passed)]
        if len(lines) > room:
            lines = [*lines[: room - 1], [Cell(f"and {len(lines) - room + 1} lines more", "faint")]]
        self._area.draw((), lines)

    def close(self) -> None:
        """Leave the screen as if nothing had been drawn."""
        self._area.draw((), ())

    def _tree(self, status: Status, passed: timedelta) -> Iterator[Sequence[Cell]]:
        spent, longest = passed.total_seconds(), self._longest.total_seconds()
        yield [Cell(f"waits until everything works: {duration(spent)} of {duration(longest)}")]
        for part in status.parts:
            health = part.health.value
            yield [
                Cell(f"  {health:<8}", STYLES[health]),
                Cell(f" {part.title:<13}", "heading"),
                Cell(part.seen),
            ]
            findings = [one for one in part.findings if one.problem.is_error]
            for one in findings[:_PER_PART]:
                yield [Cell(f"{'':12}- {one.problem.what}: {one.problem.why}")]
            if len(findings) > _PER_PART:
                yield [Cell(f"{'':12}and {len(findings) - _PER_PART} more", "faint")]


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
            self._screen.note(f"{status.at:%H:%M:%S} waits for {visible(text)}")
            self._last, self._told = text, passed

    def close(self) -> None:
        """Nothing is left to tell."""


def waiting_view(screen: Screen, longest: timedelta) -> WaitingTree | WaitingLines:
    """What fits the screen."""
    return WaitingTree(screen, longest) if screen.can_redraw else WaitingLines(screen)


def _fitted(line: Sequence[Cell], width: int) -> list[Cell]:
    made = []
    for cell in line:
        text = visible(cell.text)
        if wide(text) > width:
            while text and wide(text) + len(_CUT) > width:
                text = text[:-1]
            text = (text + _CUT)[: max(width, 0)]
        made.append(cell._replace(text=text))
        width -= wide(text)
    return made
