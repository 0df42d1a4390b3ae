"""Trees of values as nodes of a source, so that they can be decoded again."""

from __future__ import annotations

from datetime import datetime

from stockman.config.source.tree import Entry, Mapping, Node, Scalar, Sequence
from stockman.model.origin import Origin
from stockman.model.secret import Secret
from stockman.talos.patches.resolve import moment_text
from stockman.talos.patches.tree import Branch, Leaf, Tree

_SPAN = (0, 0)
_WRITTEN_OUT = 1e21
"""Below it Talos writes a fraction without a fractional part as a whole number."""


class TracedScalar(Scalar):
    """A value that brings its origin along."""

    __slots__ = ("origin", "secret")

    def __init__(
        self, text: str, origin: Origin, *, plain: bool, secret: Secret | None = None
    ) -> None:
        super().__init__(text, origin.at, plain=plain, span=_SPAN)
        self.origin = origin
        self.secret = secret
        """The secret that the text is of. None: everybody may see it."""


class TracedMapping(Mapping):
    """A mapping that brings its origin along."""

    __slots__ = ("origin",)

    def __init__(self, origin: Origin, entries: dict[str, Entry]) -> None:
        super().__init__(origin.at, entries)
        self.origin = origin


class TracedSequence(Sequence):
    """A list that brings its origin along."""

    __slots__ = ("origin",)

    def __init__(self, origin: Origin, items: list[Node]) -> None:
        super().__init__(origin.at, items)
        self.origin = origin


def as_node(tree: Tree) -> Node:
    """A tree as the node that would have been read from its text."""
    if isinstance(tree, Leaf):
        if isinstance(tree.value, Secret):
            text = tree.value.reveal()
            return TracedScalar(text, tree.origin, plain=False, secret=tree.value)
        text, plain = _text(tree.value)
        return TracedScalar(text, tree.origin, plain=plain)
    if isinstance(tree, Branch):
        entries = {
            key: Entry(Scalar(key, item.origin.at, plain=False, span=_SPAN), as_node(item))
            for key, item in tree.items()
        }
        return TracedMapping(tree.origin, entries)
    return TracedSequence(tree.origin, [as_node(item) for item in tree])


def _text(value: object) -> tuple[str, bool]:
    """The text of a value, and whether it stands there without quotes."""
    if value is None:
        return "null", True
    if isinstance(value, bool):
        return ("true" if value else "false"), True
    if isinstance(value, float) and value.is_integer() and abs(value) < _WRITTEN_OUT:
        return str(int(value)), True
    if isinstance(value, int | float):
        return repr(value), True
    if isinstance(value, datetime):
        return moment_text(value), False
    return str(value), False
