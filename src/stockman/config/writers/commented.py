"""Values with comments, for the YAML and TOML writers."""

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
    """Lines before it; an empty text is a blank line, a space is a single `#`."""
    beside: str = ""
    """Comment at the end of its line."""
    below: tuple[str, ...] = ()
    """Lines after it."""


def as_commented(value: object) -> Commented:
    """Return the value as `Commented`; a plain value has no comments."""
    return value if isinstance(value, Commented) else Commented(value=value)


def strip_comments(value: object) -> object:
    """Return the value without comments, recursively."""
    if isinstance(value, Commented):
        return strip_comments(value.value)
    if isinstance(value, dict):
        return {key: strip_comments(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [strip_comments(item) for item in value]
    return value


def comment_line(text: str, indent: str = "") -> str:
    """Format a comment on its own line."""
    return f"{indent}{_format_comment(text)}" if text else ""


def inline_comment(text: str) -> str:
    """Format a comment at the end of a line; empty: no comment."""
    return f"  {_format_comment(text)}" if text else ""


def comment_lines(lines: tuple[str, ...], indent: str = "", *, first: bool = False) -> list[str]:
    """Format comments as lines; those of the first item do not start with a blank line."""
    start = next((at for at, line in enumerate(lines) if line), len(lines)) if first else 0
    return [comment_line(line, indent) for line in lines[start:]]


def _format_comment(text: str) -> str:
    """Format a comment on a single line: all line break characters become spaces."""
    space = "" if text.startswith("#") else " "
    unfit = _NOT_IN_ASCII_COMMENTS if text.isascii() else _NOT_IN_COMMENTS
    return f"#{space}{re.sub(unfit, ' ', text)}".rstrip()
