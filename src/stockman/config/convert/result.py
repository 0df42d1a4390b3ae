"""What a conversion yields: files, and everything that they do not say."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

from stockman.model.origin import Position
from stockman.model.problem import Problems
from stockman.model.record import record


@record
class Lost:
    """Something of the source that the result does not have."""

    key: str
    """Its name in the source."""
    at: Position
    reason: str


def in_order(lost: Iterable[Lost]) -> tuple[Lost, ...]:
    """What was lost in the order of files and lines."""
    return tuple(sorted(lost, key=lambda one: one.at))


@record
class ToFill:
    """Something that the result needs and the source does not give."""

    what: str
    fix: str


@record
class Converted:
    """The files of the other form. Where the source cannot be read there are only problems."""

    files: dict[str, str] = field(default_factory=dict, repr=False)
    """Texts by name; they may hold secrets, and so are never shown."""
    lost: tuple[Lost, ...] = ()
    to_fill: tuple[ToFill, ...] = ()
    notes: tuple[str, ...] = ()
    """What happened to the text as a whole."""
    problems: Problems = field(default_factory=Problems, compare=False)
