"""The redrawn frame of the live view: a progress bar, running steps, active holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from stockman.cli.live.progress import LiveProgress, RunningStep
from stockman.cli.terminal.screen import Screen
from stockman.cli.terminal.styles import (
    display_width,
    escape_control,
    format_duration,
    format_estimate,
)
from stockman.cli.terminal.tables import Cell, wrap
from stockman.engine.holds import hold_summary
from stockman.model.record import record

Pieces = Sequence[Cell]
"""A line whose pieces have different styles."""
_CUT = "..."
_WIDEST_BAR = 30
_NARROWEST_BAR = 5
_TIME = 7
"""Width of the elapsed time before a running step."""


@record
class FrameSize:
    """Maximum size of a frame."""

    width: int
    height: int


@record
class FrameTime:
    """Time at which a frame is drawn."""

    now: datetime
    began: datetime
    is_stopping: bool = False
    """Whether the user asked the run to stop."""


def frame(progress: LiveProgress, moment: FrameTime, room: FrameSize) -> list[Pieces]:
    """Return the lines of a frame, which fit the given size."""
    total = len(progress.plan.steps)
    below: list[Pieces] = []
    if progress.held:
        names = "; ".join(hold_summary(hold) for hold in progress.held.values())
        below.append([Cell("  held: ", "faint"), Cell(names)])
    if progress.failed:
        message = f"  {progress.failed} failed: the run ends after the running steps"
        below.append([Cell(message, "error")])
    if moment.is_stopping:
        message = "  stopping after the running steps; press Ctrl-C again to stop immediately"
        below.append([Cell(message, "warning")])
    left = progress.seconds_left(moment.now)
    passed = (moment.now - moment.began).total_seconds()
    counts = f" {progress.finished}/{total} steps, {format_duration(passed)}"
    counts += f", about {format_estimate(left)} left" if left else ""
    lines: list[Pieces] = [_bar(progress.finished, total, counts, room.width)]
    if len(stages := progress.stages) > 1:
        lines.append(_stages(stages))
    lines += _running_steps(progress.running, moment.now, room.height - len(below) - len(lines) - 1)
    fitted = [_fit(line, room.width - 1) for line in (*lines, *below)]
    return fitted[: max(room.height - 1, 1)]


def _bar(done: int, total: int, counts: str, width: int) -> Pieces:
    columns = min(_WIDEST_BAR, width - display_width(counts) - 3)
    if columns < _NARROWEST_BAR:
        return [Cell(counts.strip())]
    full = columns * done // total if total else columns
    head = ">" if 0 < full < columns else ""
    drawn = "=" * (full - len(head)) + head
    return [Cell("["), Cell(drawn, "good"), Cell(" " * (columns - full) + "]"), Cell(counts)]


def _stages(stages: Mapping[str, tuple[int, int]]) -> Pieces:
    pieces = [Cell(" ")]
    for name, (done, total) in stages.items():
        style = "good" if done == total else "" if done else "faint"
        pieces.append(Cell(f" {name} {done}/{total} ", style))
    return pieces


def _running_steps(doing: Sequence[RunningStep], now: datetime, room: int) -> Iterator[Pieces]:
    for number, step in enumerate(doing):
        lines = _running_step(step, now)
        if len(lines) + (number + 1 < len(doing)) > room:
            yield [Cell(f"{'':{_TIME}}  and {len(doing) - number} more running", "faint")]
            return
        room -= len(lines)
        yield from lines


def _running_step(step: RunningStep, now: datetime) -> list[Pieces]:
    passed = format_duration(max((now - step.since).total_seconds(), 0.0))
    lines: list[Pieces] = [[Cell(f"{passed:>{_TIME}}", "faint"), Cell(f"  {step.what}")]]
    if step.says:
        lines.append([Cell(f"{'':{_TIME}}  {step.says}", "warning")])
    return lines


def _fit(pieces: Pieces, width: int) -> Pieces:
    """Shorten a line to a width. Callers leave one column free, a full line would wrap."""
    fitting: list[Cell] = []
    left = width
    for piece in pieces:
        text = _clip(escape_control(piece.text), left)
        fitting.append(piece._replace(text=text))
        left -= display_width(text)
    return fitting


def _clip(text: str, width: int) -> str:
    if display_width(text) <= width:
        return text
    while text and display_width(text) + len(_CUT) > width:
        text = text[:-1]
    return (text + _CUT)[:width]


_UP = "\x1b[{}A"
_CLEAR_LINE = "\x1b[K"
_CLEAR_BELOW = "\x1b[J"
_NARROWEST = 20


class LiveArea:
    """Redraws the area with a single write, also after the terminal was resized."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._drawn: tuple[int, ...] = ()
        """Width of each line that is overwritten next."""

    def draw(self, kept: Sequence[Cell], lines: Sequence[Sequence[Cell]]) -> None:
        """Print lines that stay, and redraw the area below them."""
        width = self._screen.notes_width or _NARROWEST
        paint = self._screen.notes_paint
        up = sum(max(-(-columns // width), 1) for columns in self._drawn)
        staying = [paint(text, line.style) for line in kept for text in wrap(line.text, width - 1)]
        if not (staying or lines or up):
            return
        fresh = ["".join(paint(piece.text, piece.style) for piece in line) for line in lines]
        self._drawn = tuple(sum(display_width(piece.text) for piece in line) for line in lines)
        start = "\r" + (_UP.format(up) if up else "")
        content = "".join(f"{_CLEAR_LINE}{line}\n" for line in (*staying, *fresh))
        self._screen.draw(start + content + _CLEAR_BELOW)
