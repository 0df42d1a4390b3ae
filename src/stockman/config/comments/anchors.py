"""What comments can belong to: keys and list items, by where they start."""

from __future__ import annotations

from stockman.config.source.tree import Mapping, Node, Scalar, Sequence
from stockman.model.origin import Position


class Anchor:
    """A key or an item of a list in the source text."""

    __slots__ = ("above", "at", "below", "beside", "is_item", "node", "parent")

    def __init__(
        self, at: Position, node: Node, parent: Anchor | None, *, is_item: bool = False
    ) -> None:
        self.at = at
        self.node = node
        """The value of the key, or the item itself."""
        self.parent = parent
        self.is_item = is_item
        self.above: list[str] = []
        self.beside: list[str] = []
        self.below: list[str] = []

    @property
    def indent(self) -> int:
        """Column that a comment has which belongs to it; that of the dash for an item."""
        return self.at.column - 2 if self.is_item else self.at.column

    @property
    def order(self) -> tuple[int, int, bool]:
        """By place; an item comes before the first key in it."""
        return (self.at.line, self.at.column, not self.is_item)


def anchors(tree: Mapping) -> list[Anchor]:
    """All keys and items of a tree in the order of the source, each once."""
    known: dict[tuple[Position, bool], Anchor] = {}
    _collect(tree, None, known)
    return sorted(known.values(), key=lambda anchor: anchor.order)


def _collect(node: Node, parent: Anchor | None, known: dict[tuple[Position, bool], Anchor]) -> None:
    if isinstance(node, Mapping):
        for entry in node.entries.values():
            value = entry.value
            if isinstance(value, Mapping) and value.at == entry.key.at:
                _collect(value, parent, known)  # a table that only a longer name speaks of
            else:
                _add(Anchor(entry.key.at, value, parent), known)
    elif isinstance(node, Sequence):
        for item in node.items:
            _add(Anchor(item.at, item, parent, is_item=True), known)


def _add(anchor: Anchor, known: dict[tuple[Position, bool], Anchor]) -> None:
    place = (anchor.at, anchor.is_item)
    if place in known:
        return  # repeated by an alias
    known[place] = anchor
    if not isinstance(anchor.node, Scalar):
        _collect(anchor.node, anchor, known)
