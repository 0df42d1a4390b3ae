"""What a conversion yields: files, and everything that they do not say."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from typing import Literal

from stockman.model.origin import Position
from stockman.model.problem import Problems
from stockman.model.record import record


@record
class LostItem:
    """Something of the source that the result does not have."""

    key: str
    """Its name in the source."""
    at: Position
    reason: str


def sort_lost_items(lost: Iterable[LostItem]) -> tuple[LostItem, ...]:
    """What was lost in the order of files and lines."""
    return tuple(sorted(lost, key=lambda item: item.at))


@record
class MissingItem:
    """Something that the result needs and the source does not give."""

    what: str
    fix: str


KeyState = Literal["taken", "changed", "left out"]


@record
class ConvertedKey:
    """What became of one key of another tool's file."""

    key: str
    """Its name in the source."""
    at: Position
    state: KeyState
    how: str
    """The key that it is now, what changed, or why it was left out."""


@record
class MachineDifference:
    """Something in which the machines of the result differ from those of the source."""

    nodes: tuple[str, ...]
    what: str
    """Document and path, `v1alpha1 machine.certSANs`."""
    before: str
    """As the other tool has it. Empty: it has nothing there."""
    after: str
    """As stockman has it. Empty: it has nothing there."""
    why: str


@record
class ConversionResult:
    """The files of the other form. Where the source cannot be read there are only problems."""

    files: dict[str, str] = field(default_factory=dict, repr=False)
    """Texts by name; they may hold secrets, and so are never shown."""
    lost: tuple[LostItem, ...] = ()
    to_fill: tuple[MissingItem, ...] = ()
    notes: tuple[str, ...] = ()
    """What happened to the text as a whole."""
    carried: tuple[ConvertedKey, ...] = ()
    """What became of every key, where the source is that of another tool for Talos."""
    differs: tuple[MachineDifference, ...] = ()
    """In what machines differ, where both machine configurations could be made."""
    problems: Problems = field(default_factory=Problems, compare=False)
