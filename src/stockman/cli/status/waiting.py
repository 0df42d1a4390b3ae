"""Show progress while waiting for a healthy cluster: a redrawn tree, or log lines."""

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
"""Maximum number of problems below a part."""
_CUT = "..."


class WaitingTree:
    """Shows each part and what it waits for; redrawn with every status."""

    def __init__(self, screen: Screen, longest: timedelta) -> None:
        self._screen = screen
        self._longest = longest
        self._area = LiveArea(screen)

    def __call__(self, status: Status, passed: timedelta) -> None:
        """Draw a status."""
        width = (self._screen.notes_width or 80) - 1
        room = max(self._screen.notes_height - 1, 1)
        lines = [_fit(line, width) for line in self._tree(status, passed)]
        if len(lines) > room:
            lines = [*lines[: room - 1], [Cell(f"and {len(lines) - room + 1} more lines", "faint")]]
        self._area.draw((), lines)

    def close(self) -> None:
        """Clear the tree."""
        self._area.draw((), ())

    def _tree(self, status: Status, passed: timedelta) -> Iterator[Sequence[Cell]]:
        spent, longest = passed.total_seconds(), self._longest.total_seconds()
        yield [
            Cell(
                f"waiting until everything is healthy: {format_duration(spent)} of "
                f"{format_duration(longest)}"
            )
        ]
        for section in status.parts:
            health = section.health.value
            yield [
                Cell(f"  {health:<8}", STYLES[health]),
                Cell(f" {section.title:<13}", "heading"),
                Cell(section.summary),
            ]
            findings = [finding for finding in section.findings if finding.problem.is_error]
            for finding in findings[:_MAX_PROBLEMS_PER_PART]:
                yield [Cell(f"{'':12}- {finding.problem.what}: {finding.problem.why}")]
            if len(findings) > _MAX_PROBLEMS_PER_PART:
                yield [Cell(f"{'':12}and {len(findings) - _MAX_PROBLEMS_PER_PART} more", "faint")]


class WaitingLines:
    """Prints a line when the status changes, and otherwise once a minute."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._last = ""
        self._last_time = -_SILENCE

    def __call__(self, status: Status, passed: timedelta) -> None:
        """Print a line if the status changed or the last line is old enough."""
        waits = [
            f"{section.title}: {section.summary}" for section in status.parts if not section.is_good
        ]
        text = "; ".join(waits)
        if text and (text != self._last or passed - self._last_time >= _SILENCE):
            self._screen.note(f"{status.at:%H:%M:%S} waiting for {escape_control(text)}")
            self._last, self._last_time = text, passed

    def close(self) -> None:
        """Do nothing; every line is printed already."""


def waiting_view(screen: Screen, longest: timedelta) -> WaitingTree | WaitingLines:
    """Return the view that fits the screen."""
    return WaitingTree(screen, longest) if screen.can_redraw else WaitingLines(screen)


def _fit(line: Sequence[Cell], width: int) -> list[Cell]:
    cells = []
    for cell in line:
        text = escape_control(cell.text)
        if display_width(text) > width:
            while text and display_width(text) + len(_CUT) > width:
                text = text[:-1]
            text = (text + _CUT)[: max(width, 0)]
        cells.append(cell._replace(text=text))
        width -= display_width(text)
    return cells
