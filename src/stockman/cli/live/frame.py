"""The part of the live view that is drawn over: a bar, what is under way, what is held."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from stockman.cli.live.progress import LiveProgress, RunningStep
from stockman.cli.terminal.durations import format_duration, format_estimate
from stockman.cli.terminal.styles import display_width, escape_control
from stockman.cli.terminal.tables import Cell
from stockman.engine.holds import hold_summary
from stockman.model.record import record

Pieces = Sequence[Cell]
"""A line, in pieces of one style each."""
_CUT = "..."
_WIDEST_BAR = 30
_NARROWEST_BAR = 5
_TIME = 7
"""Columns of the time before what is under way."""


@record
class FrameSize:
    """What a frame may take."""

    width: int
    height: int


@record
class FrameTime:
    """When a frame is drawn."""

    now: datetime
    began: datetime
    is_stopping: bool = False
    """Whether somebody asked the run to stop."""


def frame(progress: LiveProgress, moment: FrameTime, room: FrameSize) -> list[Pieces]:
    """Lines that fit: never wider than the room, never higher."""
    total = len(progress.plan.steps)
    below: list[Pieces] = []
    if progress.held:
        names = "; ".join(hold_summary(one) for one in progress.held.values())
        below.append([Cell("  held: ", "faint"), Cell(names)])
    if progress.failed:
        said = f"  {progress.failed} failed: what has begun is finished, then the run ends"
        below.append([Cell(said, "error")])
    if moment.is_stopping:
        said = "  stopping: what has begun is finished; Ctrl-C once more stops now"
        below.append([Cell(said, "warning")])
    left = progress.left(moment.now)
    passed = (moment.now - moment.began).total_seconds()
    told = f" {progress.finished}/{total} steps, {format_duration(passed)}"
    told += f", about {format_estimate(left)} left" if left else ""
    lines: list[Pieces] = [_bar(progress.finished, total, told, room.width)]
    if len(stages := progress.stages) > 1:
        lines.append(_stages(stages))
    lines += _running_steps(progress.doing, moment.now, room.height - len(below) - len(lines) - 1)
    fitted = [_fit(one, room.width - 1) for one in (*lines, *below)]
    return fitted[: max(room.height - 1, 1)]


def _bar(done: int, total: int, told: str, width: int) -> Pieces:
    columns = min(_WIDEST_BAR, width - display_width(told) - 3)
    if columns < _NARROWEST_BAR:
        return [Cell(told.strip())]
    full = columns * done // total if total else columns
    head = ">" if 0 < full < columns else ""
    drawn = "=" * (full - len(head)) + head
    return [Cell("["), Cell(drawn, "good"), Cell(" " * (columns - full) + "]"), Cell(told)]


def _stages(stages: Mapping[str, tuple[int, int]]) -> Pieces:
    pieces = [Cell(" ")]
    for name, (done, total) in stages.items():
        style = "good" if done == total else "" if done else "faint"
        pieces.append(Cell(f" {name} {done}/{total} ", style))
    return pieces


def _running_steps(doing: Sequence[RunningStep], now: datetime, room: int) -> Iterator[Pieces]:
    for number, one in enumerate(doing):
        lines = _running_step(one, now)
        if len(lines) + (number + 1 < len(doing)) > room:
            yield [Cell(f"{'':{_TIME}}  and {len(doing) - number} more under way", "faint")]
            return
        room -= len(lines)
        yield from lines


def _running_step(one: RunningStep, now: datetime) -> list[Pieces]:
    passed = format_duration(max((now - one.since).total_seconds(), 0.0))
    lines: list[Pieces] = [[Cell(f"{passed:>{_TIME}}", "faint"), Cell(f"  {one.what}")]]
    if one.says:
        lines.append([Cell(f"{'':{_TIME}}  {one.says}", "warning")])
    return lines


def _fit(pieces: Pieces, width: int) -> Pieces:
    """A line that is no wider; a full one would begin the next, so callers give one less."""
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
