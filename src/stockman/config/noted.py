"""A value together with the comments that stand around it; what both writers understand."""

from __future__ import annotations

from stockman.model.record import record


@record
class Noted:
    """A value of a mapping or list with its comments, without their `#`."""

    value: object
    above: tuple[str, ...] = ()
    """Lines before it; an empty text is an empty line."""
    beside: str = ""
    """Text behind it on its line."""
    below: tuple[str, ...] = ()
    """Lines after it."""


def noted(value: object) -> Noted:
    """The value with its comments; a bare value has none."""
    return value if isinstance(value, Noted) else Noted(value=value)


def bare(value: object) -> object:
    """The value without any comment, down to its leaves."""
    if isinstance(value, Noted):
        return bare(value.value)
    if isinstance(value, dict):
        return {key: bare(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [bare(item) for item in value]
    return value


def comment_line(text: str, indent: str = "") -> str:
    """One comment as a line of its own."""
    return f"{indent}# {text}".rstrip() if text else ""


def comment_behind(text: str) -> str:
    """One comment behind a value on its line; nothing where there is none."""
    return f"  # {text}" if text else ""
