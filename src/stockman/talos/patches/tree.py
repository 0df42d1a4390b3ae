"""The tree that patches work on: values that know where they came from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from stockman.config import shown
from stockman.model.origin import Origin, derived

Tree: TypeAlias = "Branch | Items | Leaf"

UNWRITTEN = derived("the zero value of Talos")
"""The origin of what nobody wrote and Talos prints nevertheless."""


class Leaf(NamedTuple):
    """A value and where it was written. Its value may be None."""

    value: object
    origin: Origin


class Branch(dict[str, "Tree"]):
    """A mapping. A key that is absent has the zero value of its type."""

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


def plain(tree: Tree) -> object:
    """The tree without origins: dicts, lists and values."""
    if isinstance(tree, Leaf):
        return tree.value
    if isinstance(tree, Branch):
        return {key: plain(item) for key, item in tree.items()}
    return [plain(item) for item in tree]


def leaves(tree: Tree, path: str = "") -> Iterator[tuple[str, Leaf]]:
    """Every value with its path, `machine.network.interfaces[0].mtu`."""
    if isinstance(tree, Leaf):
        yield path, tree
    elif isinstance(tree, Branch):
        for key, item in tree.items():
            yield from leaves(item, f"{path}.{key}" if path else key)
    else:
        for index, item in enumerate(tree):
            yield from leaves(item, f"{path}[{index}]")


def for_people(tree: Tree) -> shown.Tree:
    """The same tree as `config show --origin` prints them; empty ones keep their origin."""
    if isinstance(tree, Leaf):
        return shown.Leaf(tree.value, str(tree.origin))
    if not tree:
        return shown.Leaf(plain(tree), str(tree.origin))
    if isinstance(tree, Branch):
        return {key: for_people(item) for key, item in tree.items()}
    return [for_people(item) for item in tree]
