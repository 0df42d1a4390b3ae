"""The end of a terminal that is drawn over, below lines that stay."""

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
    """Draws with one write, over what it drew before, also when the width has changed since."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._drawn: tuple[int, ...] = ()
        """Columns of each line that is drawn over next."""

    def draw(self, kept: Sequence[Cell], lines: Sequence[Sequence[Cell]]) -> None:
        """Add lines that stay, and draw those that do not below them."""
        width = self._screen.notes_width or _NARROWEST
        paint = self._screen.notes_paint
        up = sum(max(-(-columns // width), 1) for columns in self._drawn)
        staying = [paint(part, one.style) for one in kept for part in wrap(one.text, width - 1)]
        if not (staying or lines or up):
            return
        fresh = ["".join(paint(piece.text, piece.style) for piece in line) for line in lines]
        self._drawn = tuple(sum(display_width(piece.text) for piece in line) for line in lines)
        start = "\r" + (_UP.format(up) if up else "")
        content = "".join(f"{_CLEAR_LINE}{line}\n" for line in (*staying, *fresh))
        self._screen.draw(start + content + _CLEAR_BELOW)
