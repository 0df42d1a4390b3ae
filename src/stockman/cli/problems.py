"""Format problems as text, with the line that is wrong, and as data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from stockman.cli.terminal.layout import paragraph
from stockman.cli.terminal.screen import current_screen
from stockman.cli.terminal.styles import (
    Paint,
    count_noun,
    display_width,
    escape_control,
    plain_text,
)
from stockman.model.origin import Position
from stockman.model.problem import Problem

Redact = Callable[[str], str]
"""Takes a line of a file and returns what may be shown of it."""

_DEFAULT_WIDTH = 100
_NARROWEST_LINE = 16
_TAB = 4
_CUT = "..."
_LABEL = 9
"""Width of the labels `where`, `why` and `fix`."""


def keep_as_is(line: str) -> str:
    """Return the line unchanged, for files without secrets."""
    return line


NO_TEXTS: Mapping[str, str] = MappingProxyType({})


def problem_lines(
    problems: Iterable[Problem],
    texts: Mapping[str, str] = NO_TEXTS,
    *,
    redact: Redact = keep_as_is,
    paint: Paint = plain_text,
    width: int | None = None,
) -> Iterator[str]:
    """Format each problem as a block of lines, separated by empty lines.

    `texts` maps file names, as in positions, to file contents; `redact` is applied to every line
    that is shown. Without a width, lines are not wrapped.
    """
    split = {file: text.split("\n") for file, text in texts.items()}
    for number, problem in enumerate(problems):
        if number:
            yield ""
        severity = problem.severity.value
        head = f"{severity}[{problem.code}]"
        first, *more = _fit(f"{head}: {escape_control(problem.what)}", width, hanging="  ")
        yield paint(first[: len(head)], severity) + first[len(head) :]
        yield from more
        if problem.where:
            yield from _item("where", str(problem.where), paint, None)
        if isinstance(problem.where, Position):
            yield from _excerpt(problem.where, split, redact, paint, width)
        yield from _item("why", problem.why, paint, width)
        yield from _item("fix", problem.fix, paint, width)


def show_problems(
    problems: Iterable[Problem],
    texts: Mapping[str, str] = NO_TEXTS,
    *,
    redact: Redact = keep_as_is,
    summary: bool = False,
) -> None:
    """Print problems to stderr, and with `summary` their number."""
    listed, screen = list(problems), current_screen()
    if listed:
        paint, width = screen.notes_paint, screen.notes_width
        lines = problem_lines(listed, texts, redact=redact, paint=paint, width=width)
        screen.print_problems([*lines, *(["", problem_summary(listed)] if summary else [])])


def problem_summary(problems: Iterable[Problem]) -> str:
    """Return the number of errors and warnings as text."""
    listed = list(problems)
    errors = sum(problem.is_error for problem in listed)
    counts = {"error": errors, "warning": len(listed) - errors}
    texts = [count_noun(count, noun) for noun, count in counts.items() if count]
    return ", ".join(texts) or "no problems"


def problem_data(problem: Problem) -> dict[str, Any]:
    """Return a problem as data; file, line and column are null if it has no position."""
    position = problem.where if isinstance(problem.where, Position) else None
    return {
        "code": problem.code,
        "severity": problem.severity.value,
        "what": problem.what,
        "where": str(problem.where),
        "why": problem.why,
        "fix": problem.fix,
        "file": position.file if position else None,
        "line": position.line if position else None,
        "column": position.column if position else None,
    }


def _item(label: str, text: str, paint: Paint, width: int | None) -> Iterator[str]:
    start = f"  {label}:".ljust(_LABEL)
    first, *more = _fit(start + escape_control(text), width, hanging=" " * _LABEL)
    yield paint(first[: len(label) + 3], "faint") + first[len(label) + 3 :]
    yield from more


def _fit(text: str, width: int | None, hanging: str) -> list[str]:
    if width is None or display_width(text) <= width:
        return [text]
    indent = text[: len(text) - len(text.lstrip())]
    return paragraph(text.strip(), width, indent, hanging)


def _excerpt(
    position: Position,
    split: Mapping[str, list[str]],
    redact: Redact,
    paint: Paint,
    width: int | None,
) -> Iterator[str]:
    lines = split.get(position.file, [])
    if not 1 <= position.line <= len(lines):
        return
    gutter = str(position.line)
    line = redact(lines[position.line - 1].removesuffix("\r"))
    room = max((width or _DEFAULT_WIDTH) - len(gutter) - 7, _NARROWEST_LINE)
    shown, caret = _cut(line.expandtabs(_TAB), _caret(line, position.column), room)
    bar = paint("|", "faint")
    yield f"    {paint(gutter, 'faint')} {bar} {escape_control(shown)}".rstrip()
    before = " " * display_width(escape_control(shown[:caret]))
    yield f"    {' ' * len(gutter)} {bar} {before}{paint('^', 'error')}"


def _caret(line: str, column: int) -> int:
    """Return the index of a column after expanding tabs; just after the end of a shorter line."""
    return len(line[: max(column, 1) - 1].expandtabs(_TAB))


def _cut(line: str, caret: int, room: int) -> tuple[str, int]:
    """Return the part of a long line around its caret, and the position of the caret in it."""
    if len(line) <= room:
        return line, caret
    start = min(max(caret - room // 2, 0), len(line) - room)
    end = start + room
    shown = line[start:end]
    if start > 0:
        shown = _CUT + shown[len(_CUT) :]
    if end < len(line):
        shown = shown[: -len(_CUT)] + _CUT
    return shown, caret - start
