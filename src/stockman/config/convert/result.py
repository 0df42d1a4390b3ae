"""Results of a conversion: files, and everything that was lost, changed or is missing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from typing import Literal

from stockman.model.origin import Position
from stockman.model.problem import Problems
from stockman.model.record import record


@record
class LostItem:
    """Something in the source that was not converted."""

    key: str
    """Name in the source."""
    at: Position
    reason: str


def sort_lost_items(lost: Iterable[LostItem]) -> tuple[LostItem, ...]:
    """Sort lost items by file and line."""
    return tuple(sorted(lost, key=lambda item: item.at))


@record
class MissingItem:
    """Something that the result needs and the source does not provide."""

    what: str
    fix: str


KeyState = Literal["taken", "changed", "left out"]


@record
class ConvertedKey:
    """Result of one key of another tool's file."""

    key: str
    """Name in the source."""
    at: Position
    state: KeyState
    how: str
    """Its new key, what was changed, or why it was left out."""


@record
class MachineDifference:
    """A difference between machine configurations of the source and the result."""

    nodes: tuple[str, ...]
    what: str
    """Document and path, `v1alpha1 machine.certSANs`."""
    before: str
    """Value in the source. Empty: not set."""
    after: str
    """Value in the result. Empty: not set."""
    why: str


@record
class ConversionResult:
    """The converted files, or problems if the source cannot be read."""

    files: dict[str, str] = field(default_factory=dict, repr=False)
    """Texts by file name; they may contain secrets, so they are never shown."""
    lost: tuple[LostItem, ...] = ()
    to_fill: tuple[MissingItem, ...] = ()
    notes: tuple[str, ...] = ()
    """Changes that affect the whole text."""
    carried: tuple[ConvertedKey, ...] = ()
    """Result of every key, if the source is another Talos tool."""
    differs: tuple[MachineDifference, ...] = ()
    """Differences between machine configurations, if both could be generated."""
    problems: Problems = field(default_factory=Problems, compare=False)
