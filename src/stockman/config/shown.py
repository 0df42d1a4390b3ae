"""What should be, as a tree for people: values beside where each came from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from stockman.model.origin import Traced
from stockman.model.record import fields_of, is_record, plain

DEFAULT = "default"

Tree: TypeAlias = "dict[str, Tree] | list[Tree] | Leaf"


class Leaf(NamedTuple):
    """A value and where it came from."""

    value: object
    origin: str


def shown(value: object, origin: str = DEFAULT) -> Tree:
    """The tree of a record: mappings of its fields, lists of records, leaves with origins."""
    if is_record(value):
        inner = value.origins if isinstance(value, Traced) else {}
        return {
            one.name: shown(
                getattr(value, one.name),
                str(inner[one.name]) if one.name in inner else DEFAULT,
            )
            for one in fields_of(value)
            if one.metadata.get("shown", True)
        }
    if isinstance(value, dict) and value:
        return {str(key): shown(item, origin) for key, item in value.items()}
    if isinstance(value, tuple | list) and any(is_record(item) for item in value):
        return [shown(item, origin) for item in value]
    return Leaf(plain(value), origin)


def flattened(tree: Tree, path: str = "") -> Iterator[tuple[str, Leaf]]:
    """Every leaf with its path; items of lists go by their name where they have one."""
    if isinstance(tree, Leaf):
        yield path, tree
    elif isinstance(tree, dict):
        for key, item in tree.items():
            yield from flattened(item, f"{path}.{key}" if path else key)
    else:
        for index, item in enumerate(tree):
            yield from flattened(item, f"{path}[{name_of_item(item, index)}]")


def name_of_item(item: Tree, index: int) -> str:
    """What an item of a list is called: its name or region, else its position."""
    if isinstance(item, dict):
        for key in ("name", "region"):
            leaf = item.get(key)
            if isinstance(leaf, Leaf):
                return str(leaf.value)
    return str(index)


def below(tree: Tree, path: str) -> Tree | None:
    """The part of a tree that a path names, `nodes.work-1.vm`; None where there is none."""
    for step in path.replace("[", ".").replace("]", "").split("."):
        found: Tree | None = None
        if isinstance(tree, dict):
            found = tree.get(step)
        elif isinstance(tree, list):
            found = next(
                (one for index, one in enumerate(tree) if name_of_item(one, index) == step), None
            )
        if found is None:
            return None
        tree = found
    return tree


def values(tree: Tree) -> object:
    """The tree without origins."""
    if isinstance(tree, Leaf):
        return tree.value
    if isinstance(tree, dict):
        return {key: values(item) for key, item in tree.items()}
    return [values(item) for item in tree]


def with_origins(tree: Tree) -> object:
    """The tree with `{value, origin}` in place of every leaf."""
    if isinstance(tree, Leaf):
        return {"value": tree.value, "origin": tree.origin}
    if isinstance(tree, dict):
        return {key: with_origins(item) for key, item in tree.items()}
    return [with_origins(item) for item in tree]
