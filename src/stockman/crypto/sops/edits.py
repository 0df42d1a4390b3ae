"""Changes of a text by place: what is not named keeps its bytes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Edit(NamedTuple):
    """Replace what stands from `start` to `end`."""

    start: int
    end: int
    text: str


def edited(text: str, edits: Iterable[Edit]) -> str:
    """The text with all edits, which must not overlap; equal places keep the order given."""
    pieces: list[str] = []
    reached = 0
    for edit in sorted(edits, key=lambda one: (one.start, one.end)):
        if edit.start < reached:
            raise ValueError("two edits overlap")
        pieces += (text[reached : edit.start], edit.text)
        reached = edit.end
    pieces.append(text[reached:])
    return "".join(pieces)
