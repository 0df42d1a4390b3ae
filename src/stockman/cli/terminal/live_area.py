"""The area at the bottom of a terminal that is redrawn, below lines that stay."""

from __future__ import annotations

from collections.abc import Sequence

from stockman.cli.terminal.screen import Screen
from stockman.cli.terminal.styles import display_width
from stockman.cli.terminal.tables import Cell, wrap

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
