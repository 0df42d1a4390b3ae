"""A patch before anybody applied it."""

from __future__ import annotations

from stockman.config.source.tree import Node
from stockman.model.origin import Position
from stockman.model.record import record


@record
class Patch:
    """One patch: its text, and where that stands."""

    label: str
    """What people call it: `talos.patches.all[0]`, or the name of its file."""
    file: str
    text: str
    first_line: int = 1
    """The line of the file at which the text starts."""
    first_column: int = 1
    """The column at which each of its lines starts."""
    place: Position | None = None
    """None: the text stands in the file as it is. Otherwise all of it is said to stand here."""
    node: Node | None = None
    """The patch where it was read already, as one document; the text counts for nothing then."""
