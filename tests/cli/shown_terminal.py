"""A terminal as far as a live view uses one: it wraps, moves up and clears."""

from __future__ import annotations

import io
import re

_ESCAPE = re.compile(r"\x1b\[([\d;]*)([A-Za-z])")


class ShownTerminal(io.StringIO):
    """Keeps the lines that somebody in front of it sees, and counts how often it was drawn."""

    def __init__(self, columns: int) -> None:
        super().__init__()
        self.columns = columns
        self.writes: list[str] = []
        self._rows: list[str] = [""]
        self._row = self._column = 0

    def isatty(self) -> bool:
        return True

    @property
    def lines(self) -> list[str]:
        shown = [row.rstrip() for row in self._rows]
        while shown and not shown[-1]:
            shown.pop()
        return shown

    def narrow(self, columns: int) -> None:
        """Make the window narrower: long lines wrap, as most terminals do it."""
        fresh: list[str] = []
        for number, row in enumerate(self._rows):
            if number == self._row:
                self._row = len(fresh)
            text = row.rstrip()
            fresh += [text[at : at + columns] for at in range(0, len(text), columns)] or [""]
        self._rows, self.columns = fresh, columns

    def write(self, text: str) -> int:
        if text:
            self.writes.append(text)
        at = 0
        while at < len(text):
            escape = _ESCAPE.match(text, at)
            if escape is None:
                self._character(text[at])
                at += 1
            else:
                self._steered(escape[1], escape[2])
                at = escape.end()
        return len(text)

    def _character(self, character: str) -> None:
        if character == "\r":
            self._column = 0
            return
        if character == "\n" or self._column == self.columns:
            self._row, self._column = self._row + 1, 0
            if self._row == len(self._rows):
                self._rows.append("")
        if character != "\n":
            row = self._rows[self._row].ljust(self._column)
            self._rows[self._row] = row[: self._column] + character + row[self._column + 1 :]
            self._column += 1

    def _steered(self, number: str, text: str) -> None:
        match text:
            case "A":
                self._row = max(self._row - int(number or 1), 0)
            case "K":
                self._rows[self._row] = self._rows[self._row][: self._column]
            case "J":
                self._rows[self._row] = self._rows[self._row][: self._column]
                del self._rows[self._row + 1 :]
            case "m":
                return
            case _:
                raise AssertionError(f"a sequence that this terminal does not know: {text}")
