"""Lay out text for a width: paragraphs, definition lists, examples."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping

DEFAULT_WIDTH = 80
DEFAULT_HEIGHT = 24
MIN_WIDTH = 20
MAX_HELP_WIDTH = 100
_TERM_COLUMN = 24
_ROOM_FOR_TWO_COLUMNS = 56
_WORD = r"""(?:[^\s'"]|'[^']*'|"[^"]*")+"""


def columns(environment: Mapping[str, str], descriptor: int | None) -> int:
    """Return the number of columns: from $COLUMNS, from the terminal, or 80."""
    value = environment.get("COLUMNS", "")
    if value.isascii() and value.isdigit() and int(value) > 0:
        return max(int(value), MIN_WIDTH)
    if descriptor is not None:
        try:
            seen = os.get_terminal_size(descriptor).columns
        except OSError:
            seen = 0
        if seen > 0:
            return max(seen, MIN_WIDTH)
    return DEFAULT_WIDTH


def rows(environment: Mapping[str, str], descriptor: int | None) -> int:
    """Return the number of lines: from $LINES, from the terminal, or 24."""
    value = environment.get("LINES", "")
    if value.isascii() and value.isdigit() and int(value) > 0:
        return int(value)
    if descriptor is not None:
        try:
            seen = os.get_terminal_size(descriptor).lines
        except OSError:
            seen = 0
        if seen > 0:
            return seen
    return DEFAULT_HEIGHT


def help_width(environment: Mapping[str, str], descriptor: int | None = 1) -> int:
    """Return the width of help texts: the available width up to a readable maximum."""
    return min(columns(environment, descriptor), MAX_HELP_WIDTH)


def paragraph(text: str, width: int, indent: str = "", hanging: str | None = None) -> list[str]:
    """Wrap a text to lines; words are never broken, so that names can be copied."""
    import textwrap

    return textwrap.wrap(
        text,
        max(width, MIN_WIDTH),
        initial_indent=indent,
        subsequent_indent=indent if hanging is None else hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )


def definitions(
    rows: Iterable[tuple[str, str]], width: int, indent: str = "  ", longest: int = 0
) -> Iterator[str]:
    """Format terms beside their meanings, or above them on a narrow screen.

    `longest` is the length of the longest term in another list to align with.
    """
    rows = list(rows)
    fitting = [len(term) for term, _ in rows if len(term) <= _TERM_COLUMN]
    beside = " " * (len(indent) + max(longest, *fitting, 0) + 2)
    if width < _ROOM_FOR_TWO_COLUMNS:
        beside = f"{indent}    "
    for term, meaning in rows:
        start = f"{indent}{term}"
        if len(start) + 2 <= len(beside) and meaning:
            yield from paragraph(meaning, width, start.ljust(len(beside)), beside)
        else:
            yield from _term(term, width, indent)
            yield from paragraph(meaning, width, beside)


def _term(term: str, width: int, indent: str) -> Iterator[str]:
    """Break a term between words, and between choices if a word is too long."""
    hanging = f"{indent}    "
    for line in paragraph(term, width, indent, hanging):
        short = ""
        for piece in re.split(r"(?<=\|)", line) if len(line) > width else [line]:
            if short.strip() and len(short + piece) > width:
                yield short
                short = hanging
            short += piece
        yield short


def examples(lines: Mapping[str, str], width: int, indent: str = "  ") -> Iterator[str]:
    """Format command lines, each below a comment with its description."""
    for command, meaning in lines.items():
        yield from paragraph(meaning, width, f"{indent}# ", f"{indent}# ")
        yield from command_line(command, width, indent)


def command_line(command: str, width: int, indent: str = "  ") -> Iterator[str]:
    """Format a command line that can be pasted, continued with backslashes if it is too long."""
    line = indent
    for argument in re.findall(_WORD, command):
        joined = line + argument if line.isspace() or not line else f"{line} {argument}"
        if len(joined) > width - 2 and not line.isspace():
            yield f"{line} \\"
            joined = f"{indent}    {argument}"
        line = joined
    yield line
