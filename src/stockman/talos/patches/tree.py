"""The tree that patches work on: values that know their origin."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple, TypeAlias

from stockman.config import origin_tree
from stockman.config.source.tree import (
    MappingEntry,
    MappingNode,
    ScalarNode,
    SequenceNode,
    TreeNode,
)
from stockman.model.origin import Origin, derivation
from stockman.model.secret import Secret
from stockman.talos.patches.scalars import moment_text

Tree: TypeAlias = "Branch | Items | Leaf"

UNWRITTEN = derivation("the zero value of Talos")
"""The origin of values that Talos prints although they were not written."""


class Leaf(NamedTuple):
    """A value and its origin. The value may be None."""

    value: object
    origin: Origin


class Branch(dict[str, "Tree"]):
    """A mapping. An absent key has the zero value of its type."""

    __slots__ = ("origin",)

    def __init__(self, origin: Origin, entries: dict[str, Tree] | None = None) -> None:
        super().__init__(entries or {})
        self.origin = origin


class Items(list["Tree"]):
    """A list."""

    __slots__ = ("origin",)

    def __init__(self, origin: Origin, items: list[Tree] | None = None) -> None:
        super().__init__(items or [])
        self.origin = origin


def plain_value(tree: Tree) -> object:
    """Return the tree without origins: dicts, lists and values."""
    if isinstance(tree, Leaf):
        return tree.value
    if isinstance(tree, Branch):
        return {key: plain_value(item) for key, item in tree.items()}
    return [plain_value(item) for item in tree]


def iter_leaves(tree: Tree, path: str = "") -> Iterator[tuple[str, Leaf]]:
    """Yield every value with its path, `machine.network.interfaces[0].mtu`."""
    if isinstance(tree, Leaf):
        yield path, tree
    elif isinstance(tree, Branch):
        for key, item in tree.items():
            yield from iter_leaves(item, f"{path}.{key}" if path else key)
    else:
        for index, item in enumerate(tree):
            yield from iter_leaves(item, f"{path}[{index}]")


def shown_tree(tree: Tree) -> origin_tree.OriginTree:
    """Return the tree for `config show --origin`; empty collections keep their origin."""
    if isinstance(tree, Leaf):
        return origin_tree.TracedValue(tree.value, str(tree.origin))
    if not tree:
        return origin_tree.TracedValue(plain_value(tree), str(tree.origin))
    if isinstance(tree, Branch):
        return {key: shown_tree(item) for key, item in tree.items()}
    return [shown_tree(item) for item in tree]


_SPAN = (0, 0)
_WRITTEN_OUT = 1e21
"""Below it Talos prints a float without a fraction as an integer."""


class TracedScalar(ScalarNode):
    """A value with its origin."""

    __slots__ = ("origin", "secret")

    def __init__(
        self, text: str, origin: Origin, *, plain: bool, secret: Secret | None = None
    ) -> None:
        super().__init__(text, origin.at, plain=plain, span=_SPAN)
        self.origin = origin
        self.secret = secret
        """The secret of the text. None: it is public."""


class TracedMapping(MappingNode):
    """A mapping with its origin."""

    __slots__ = ("origin",)

    def __init__(self, origin: Origin, entries: dict[str, MappingEntry]) -> None:
        super().__init__(origin.at, entries)
        self.origin = origin


class TracedSequence(SequenceNode):
    """A list with its origin."""

    __slots__ = ("origin",)

    def __init__(self, origin: Origin, items: list[TreeNode]) -> None:
        super().__init__(origin.at, items)
        self.origin = origin


def as_node(tree: Tree) -> TreeNode:
    """Return a tree as the node that reading its text would give."""
    if isinstance(tree, Leaf):
        if isinstance(tree.value, Secret):
            text = tree.value.reveal()
            return TracedScalar(text, tree.origin, plain=False, secret=tree.value)
        text, plain = _text(tree.value)
        return TracedScalar(text, tree.origin, plain=plain)
    if isinstance(tree, Branch):
        entries = {
            key: MappingEntry(
                ScalarNode(key, item.origin.at, plain=False, span=_SPAN), as_node(item)
            )
            for key, item in tree.items()
        }
        return TracedMapping(tree.origin, entries)
    return TracedSequence(tree.origin, [as_node(item) for item in tree])


def _text(value: object) -> tuple[str, bool]:
    """Return the text of a value, and whether it is unquoted."""
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
