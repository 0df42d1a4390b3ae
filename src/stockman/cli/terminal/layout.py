"""Text laid out for a width: paragraphs, definition lists, examples."""

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
    """How many columns there are: as $COLUMNS says, as the terminal says, or the usual 80."""
    told = environment.get("COLUMNS", "")
    if told.isascii() and told.isdigit() and int(told) > 0:
        return max(int(told), MIN_WIDTH)
    if descriptor is not None:
        try:
            seen = os.get_terminal_size(descriptor).columns
        except OSError:
            seen = 0
        if seen > 0:
            return max(seen, MIN_WIDTH)
    return DEFAULT_WIDTH


def rows(environment: Mapping[str, str], descriptor: int | None) -> int:
    """How many lines there are: as $LINES says, as the terminal says, or the usual 24."""
    told = environment.get("LINES", "")
    if told.isascii() and told.isdigit() and int(told) > 0:
        return int(told)
    if descriptor is not None:
        try:
            seen = os.get_terminal_size(descriptor).lines
        except OSError:
            seen = 0
        if seen > 0:
            return seen
    return DEFAULT_HEIGHT


def help_width(environment: Mapping[str, str], descriptor: int | None = 1) -> int:
    """The width of help texts: what there is, up to where lines become hard to read."""
    return min(columns(environment, descriptor), MAX_HELP_WIDTH)


def paragraph(text: str, width: int, indent: str = "", hanging: str | None = None) -> list[str]:
    """A text as lines; words are never broken, so that names can be copied."""
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
    """Terms beside their meanings, or above them where there is no room for two columns.

    `longest` is the length of a term in another list that this one has to line up with.
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
    """A term as lines, broken between words, and between choices where a word is too long."""
    hanging = f"{indent}    "
    for line in paragraph(term, width, indent, hanging):
        short = ""
        for part in re.split(r"(?<=\|)", line) if len(line) > width else [line]:
            if short.strip() and len(short + part) > width:
                yield short
                short = hanging
            short += part
        yield short


def examples(lines: Mapping[str, str], width: int, indent: str = "  ") -> Iterator[str]:
    """Command lines, each below a comment that says what it does."""
    for command, meaning in lines.items():
        yield from paragraph(meaning, width, f"{indent}# ", f"{indent}# ")
        yield from command_line(command, width, indent)


def command_line(command: str, width: int, indent: str = "  ") -> Iterator[str]:
    """A command line that can be pasted, continued with backslashes where it is too long."""
    line = indent
    for word in re.findall(_WORD, command):
        joined = line + word if line.isspace() or not line else f"{line} {word}"
        if len(joined) > width - 2 and not line.isspace():
            yield f"{line} \\"
            joined = f"{indent}    {word}"
        line = joined
    yield line
