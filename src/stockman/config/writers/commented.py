"""A value together with the comments that stand around it; what both writers understand."""

from __future__ import annotations

import re

from stockman.model.record import record

_NOT_IN_COMMENTS = (
    r"[^\t\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
_NOT_IN_ASCII_COMMENTS = r"[\x00-\x08\x0a-\x1f\x7f]"


@record
class Commented:
    """A value of a mapping or list with its comments, without their `#`."""

    value: object
    above: tuple[str, ...] = ()
    """Lines before it; an empty text is an empty line, a space a `#` alone."""
    beside: str = ""
    """Text behind it on its line."""
    below: tuple[str, ...] = ()
    """Lines after it."""


def as_commented(value: object) -> Commented:
    """The value with its comments; a bare value has none."""
    return value if isinstance(value, Commented) else Commented(value=value)


def strip_comments(value: object) -> object:
    """The value without any comment, down to its leaves."""
    if isinstance(value, Commented):
        return strip_comments(value.value)
    if isinstance(value, dict):
        return {key: strip_comments(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [strip_comments(item) for item in value]
    return value


def comment_line(text: str, indent: str = "") -> str:
    """One comment as a line of its own."""
    return f"{indent}{_format_comment(text)}" if text else ""


def inline_comment(text: str) -> str:
    """One comment behind a value on its line; nothing where there is none."""
    return f"  {_format_comment(text)}" if text else ""


def comment_lines(lines: tuple[str, ...], indent: str = "", *, first: bool = False) -> list[str]:
    """Comments as lines; those of the first in a collection start with no empty line."""
    start = next((at for at, line in enumerate(lines) if line), len(lines)) if first else 0
    return [comment_line(line, indent) for line in lines[start:]]


def _format_comment(text: str) -> str:
    """A comment that ends on its line: whatever a reader could take for a line end is a space."""
    space = "" if text.startswith("#") else " "
    unfit = _NOT_IN_ASCII_COMMENTS if text.isascii() else _NOT_IN_COMMENTS
    return f"#{space}{re.sub(unfit, ' ', text)}".rstrip()
