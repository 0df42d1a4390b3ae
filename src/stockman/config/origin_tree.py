"""The desired state as a tree of values with their origins, and differences between two trees."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeAlias

from stockman.model.desired import Desired
from stockman.model.origin import Traced
from stockman.model.record import fields_of, is_record, record, to_plain_value

DEFAULT = "default"

OriginTree: TypeAlias = "dict[str, OriginTree] | list[OriginTree] | TracedValue"


class TracedValue(NamedTuple):
    """A value and its origin."""

    value: object
    origin: str


def origin_tree(value: object, origin: str = DEFAULT) -> OriginTree:
    """Return the tree of a record: mappings of fields, lists of records, values with origins."""
    if is_record(value):
        inner = value.origins if isinstance(value, Traced) else {}
        return {
            field.name: origin_tree(
                getattr(value, field.name),
                str(inner[field.name]) if field.name in inner else DEFAULT,
            )
            for field in fields_of(value)
            if field.metadata.get("shown", True)
        }
    if isinstance(value, dict) and value:
        return {str(key): origin_tree(item, origin) for key, item in value.items()}
    if isinstance(value, tuple | list) and any(is_record(item) for item in value):
        return [origin_tree(item, origin) for item in value]
    return TracedValue(to_plain_value(value), origin)


def flatten_tree(tree: OriginTree, path: str = "") -> Iterator[tuple[str, TracedValue]]:
    """Yield every value with its path; list items are identified by name if they have one."""
    if isinstance(tree, TracedValue):
        yield path, tree
    elif isinstance(tree, dict):
        for key, item in tree.items():
            yield from flatten_tree(item, f"{path}.{key}" if path else key)
    else:
        for index, item in enumerate(tree):
            yield from flatten_tree(item, f"{path}[{item_name(item, index)}]")


def item_name(item: OriginTree, index: int) -> str:
    """Return the name of a list item: its name or region, otherwise its index."""
    if isinstance(item, dict):
        for key in ("name", "region"):
            leaf = item.get(key)
            if isinstance(leaf, TracedValue):
                return str(leaf.value)
    return str(index)


def find_subtree(tree: OriginTree, path: str) -> OriginTree | None:
    """Return the subtree at a path, `nodes.work-1.vm`; None: it does not exist."""
    for step in path.replace("[", ".").replace("]", "").split("."):
        subtree: OriginTree | None = None
        if isinstance(tree, dict):
            subtree = tree.get(step)
        elif isinstance(tree, list):
            subtree = next(
                (item for index, item in enumerate(tree) if item_name(item, index) == step), None
            )
        if subtree is None:
            return None
        tree = subtree
    return tree


def strip_origins(tree: OriginTree) -> object:
    """Return the tree without origins."""
    if isinstance(tree, TracedValue):
        return tree.value
    if isinstance(tree, dict):
        return {key: strip_origins(item) for key, item in tree.items()}
    return [strip_origins(item) for item in tree]


def with_origins(tree: OriginTree) -> object:
    """Return the tree with `{value, origin}` instead of every value."""
    if isinstance(tree, TracedValue):
        return {"value": tree.value, "origin": tree.origin}
    if isinstance(tree, dict):
        return {key: with_origins(item) for key, item in tree.items()}
    return [with_origins(item) for item in tree]


DifferenceKind = Literal["added", "removed", "changed"]


@record
class ConfigDifference:
    """A value that differs between two configurations."""

    path: str
    kind: DifferenceKind
    before: object
    """None for added values, and for null."""
    after: object
    """None for removed values, and for null."""


def differences(before: Desired, after: Desired) -> tuple[ConfigDifference, ...]:
    """Return all values that differ, in the order of the first configuration; secrets are compared
    by text."""
    old, new = _leaves(before), _leaves(after)
    result = []
    for path in dict.fromkeys((*old, *new)):
        kind: DifferenceKind = "changed"
        if path not in old:
            kind = "added"
        elif path not in new:
            kind = "removed"
        first, second = (leaves[path].value if path in leaves else None for leaves in (old, new))
        if kind != "changed" or first != second:
            result.append(ConfigDifference(path=path, kind=kind, before=first, after=second))
    return tuple(result)


def _leaves(desired: Desired) -> dict[str, TracedValue]:
    return dict(flatten_tree(origin_tree(desired)))
