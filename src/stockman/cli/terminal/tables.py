"""Plain text tables: as wide as their content in a pipe, limited to the terminal otherwise."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

from stockman.cli.terminal.styles import Paint, display_width, escape_control, plain_text

_GAP = 2
_NARROWEST_COLUMN = 8


class Cell(NamedTuple):
    """A text and its style."""

    text: str
    style: str = ""


Row = Sequence[str | Cell]


def table(
    headers: Sequence[str],
    rows: Iterable[Row],
    *,
    width: int | None = None,
    paint: Paint = plain_text,
) -> Iterator[str]:
    """Return the lines of a table, without trailing spaces.

    Columns shrink and cells wrap to fit `width`; if they still do not fit, each row becomes a block
    of lines. A row may be shorter than the headers.
    """
    cells = [[_cell(value) for value in row] for row in rows]
    titles = [Cell(header, "heading") for header in headers]
    widths = _natural([titles, *cells], len(titles))
    if width is None or _total(widths) <= width:
        for row in [titles, *cells]:
            yield _line(row, widths, paint)
        return
    fitted = _fit_widths(widths, width)
    if fitted is None:
        yield from _blocks(titles, cells, width, paint)
        return
    for row in [titles, *cells]:
        yield from _wrap_row(row, fitted, paint)


def wrap(text: str, width: int) -> list[str]:
    """Wrap a text to lines of at most `width` columns; longer words are cut."""
    lines = [""]
    for piece in text.split(" "):
        joined = f"{lines[-1]} {piece}" if lines[-1] else piece
        if display_width(joined) <= width:
            lines[-1] = joined
            continue
        pieces = _pieces(piece, width)
        if lines[-1]:
            lines.extend(pieces)
        else:
            lines[-1:] = pieces
    return lines


def _cell(value: str | Cell) -> Cell:
    cell = value if isinstance(value, Cell) else Cell(value)
    return cell._replace(text=escape_control(cell.text).rstrip(" "))


def _natural(rows: Iterable[Sequence[Cell]], count: int) -> list[int]:
    widths = [0] * count
    for row in rows:
        for index, cell in enumerate(row):
            widths[index] = max(widths[index], display_width(cell.text))
    return widths


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + _GAP * (len(widths) - 1)


def _fit_widths(widths: Sequence[int], width: int) -> list[int] | None:
    """Return column widths that fit, shrinking the widest first; None if there are too many
    columns."""
    fitted = list(widths)
    while _total(fitted) > width:
        widest = max(range(len(fitted)), key=fitted.__getitem__)
        if fitted[widest] <= _NARROWEST_COLUMN:
            return None
        fitted[widest] -= 1
    return fitted


def _wrap_row(row: Sequence[Cell], widths: Sequence[int], paint: Paint) -> Iterator[str]:
    columns = [
        [cell._replace(text=line) for line in wrap(cell.text, width)]
        for cell, width in zip(row, widths, strict=False)
    ]
    for cells in zip_longest(*columns, fillvalue=Cell("")):
        yield _line(cells, widths, paint)


def _line(row: Sequence[Cell], widths: Sequence[int], paint: Paint) -> str:
    line = ""
    owed = 0
    for cell, width in zip(row, widths, strict=False):
        if cell.text:
            line += " " * owed + paint(cell.text, cell.style)
            owed = 0
        owed += width - display_width(cell.text) + _GAP
    return line


def _blocks(
    titles: Sequence[Cell], rows: Sequence[Sequence[Cell]], width: int, paint: Paint
) -> Iterator[str]:
    longest = max(display_width(title.text) for title in titles)
    beside = longest + _GAP
    for number, row in enumerate(rows):
        if number:
            yield ""
        for title, cell in zip(titles, row, strict=False):
            lines = wrap(cell.text, max(width - beside, _NARROWEST_COLUMN))
            for index, line in enumerate(lines):
                label = title if index == 0 else Cell("")
                yield _line([label, cell._replace(text=line)], [longest, 0], paint)


def _pieces(text: str, width: int) -> list[str]:
    pieces = [""]
    for character in text:
        if pieces[-1] and display_width(pieces[-1] + character) > width:
            pieces.append("")
        pieces[-1] += character
    return pieces
