"""The tree every reader makes: scalars keep their source text, everything keeps its place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from stockman.model.origin import Position
from stockman.model.pattern import pattern

_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_TRUE = frozenset({"true", "True", "TRUE"})
_FALSE = frozenset({"false", "False", "FALSE"})
_LONGEST_NUMBER = 300
"""Longer texts of digits are no numbers that anybody means."""
_INTEGER = pattern(r"[-+]?[0-9]+")
_FLOAT = pattern(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_NUMBERS = frozenset({".nan", ".NaN", ".NAN"})
_INFINITE = pattern(r"([-+]?)\.(?:inf|Inf|INF)")


class ScalarNode:
    """One value as written. `plain` means unquoted: only then may it be a number or null."""

    __slots__ = ("at", "plain", "span", "text")

    def __init__(self, text: str, at: Position, *, plain: bool, span: tuple[int, int]) -> None:
        self.text = text
        self.at = at
        self.plain = plain
        self.span = span
        """First and one past the last character of the source text."""

    @property
    def is_null(self) -> bool:
        return self.plain and self.text in _NULLS


class MappingEntry:
    """One key of a mapping with its value."""

    __slots__ = ("key", "name", "value", "via")

    def __init__(self, key: ScalarNode, value: TreeNode, *, name: str = "", via: str = "") -> None:
        self.key = key
        self.value = value
        self.name = name
        """Full path the user knows this key by, where it differs from its place in the tree."""
        self.via = via
        """What brought the entry here, `class worker`; empty: written in place."""


class MappingNode:
    """Keys in the order written; a key stands once."""

    __slots__ = ("at", "entries")

    def __init__(self, at: Position, entries: dict[str, MappingEntry] | None = None) -> None:
        self.at = at
        self.entries = {} if entries is None else entries

    def get(self, key: str) -> TreeNode | None:
        entry = self.entries.get(key)
        return None if entry is None else entry.value


class ItemName(NamedTuple):
    """What an item is called where it was written, and what brought it here."""

    path: str
    """Of its list. Empty: the list that it is in now."""
    position: int
    via: str


class SequenceNode:
    """Items in the order written."""

    __slots__ = ("at", "items", "names")

    def __init__(
        self,
        at: Position,
        items: list[TreeNode] | None = None,
        names: tuple[ItemName, ...] = (),
    ) -> None:
        self.at = at
        self.items = [] if items is None else items
        self.names = names
        """Of a list that was joined from several: the name of each item. Empty: of one list."""


TreeNode = ScalarNode | MappingNode | SequenceNode


def to_plain_data(node: TreeNode) -> object:
    """The value of a free-form node: unquoted texts are typed by the YAML 1.2 core schema."""
    if isinstance(node, MappingNode):
        return {key: to_plain_data(entry.value) for key, entry in node.entries.items()}
    if isinstance(node, SequenceNode):
        return [to_plain_data(item) for item in node.items]
    return _plain_value(node.text) if node.plain else node.text


def build_node(value: object, path: str, position_of: Callable[[str], Position]) -> TreeNode:
    """The tree of a free-form value; `position_of` knows where the key at a path was written."""
    at = position_of(path)
    if isinstance(value, dict):
        entries = {}
        for key, item in value.items():
            inner = f"{path}.{key}"
            entries[key] = MappingEntry(
                ScalarNode(key, position_of(inner), plain=True, span=(0, 0)),
                build_node(item, inner, position_of),
            )
        return MappingNode(at, entries)
    if isinstance(value, list | tuple):
        return SequenceNode(at, [build_node(item, path, position_of) for item in value])
    if isinstance(value, str):
        return ScalarNode(value, at, plain=False, span=(0, 0))
    text = "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    return ScalarNode(text, at, plain=True, span=(0, 0))


def _plain_value(text: str) -> object:
    if text in _NULLS:
        return None
    if len(text) > _LONGEST_NUMBER:
        return text
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    if _INTEGER.fullmatch(text):
        return int(text)
    if text.startswith(("0x", "0o")) and text[2:].isalnum():
        try:
            return int(text, 0)
        except ValueError:
            return text
    if _FLOAT.fullmatch(text):
        return float(text)
    if text in _NOT_NUMBERS:
        return float("nan")
    infinite = _INFINITE.fullmatch(text)
    if infinite is not None:
        return float(f"{infinite[1]}inf")
    return text


def iter_scalars(node: TreeNode) -> Iterator[ScalarNode]:
    """All scalar values below a node, keys excluded, in order."""
    if isinstance(node, ScalarNode):
        yield node
    elif isinstance(node, MappingNode):
        for entry in node.entries.values():
            yield from iter_scalars(entry.value)
    else:
        for item in node.items:
            yield from iter_scalars(item)


def copy_node(node: TreeNode) -> TreeNode:
    """The same tree; changes to its mappings and lists leave the first one alone."""
    if isinstance(node, MappingNode):
        entries = {
            key: MappingEntry(entry.key, copy_node(entry.value), name=entry.name, via=entry.via)
            for key, entry in node.entries.items()
        }
        return MappingNode(node.at, entries)
    if isinstance(node, SequenceNode):
        return SequenceNode(node.at, [copy_node(item) for item in node.items], node.names)
    return node


def merge_mappings(lower: MappingNode, upper: MappingNode) -> MappingNode:
    """Two mappings as one: keys of `upper` win, mappings merge, lists and values are replaced."""
    entries = dict(lower.entries)
    for key, entry in upper.entries.items():
        below = entries.get(key)
        if (
            below is not None
            and isinstance(below.value, MappingNode)
            and isinstance(entry.value, MappingNode)
        ):
            both = merge_mappings(below.value, entry.value)
            entries[key] = MappingEntry(entry.key, both, name=entry.name, via=entry.via)
        else:
            entries[key] = entry
    return MappingNode(upper.at, entries)


def mark_origin(mapping: MappingNode, via: str, path: str) -> MappingNode:
    """The same mapping, marked as brought by `via` and named by where it was written."""
    return MappingNode(
        mapping.at,
        {
            key: MappingEntry(
                entry.key,
                _mark_node(entry.value, via, f"{path}.{key}"),
                name=f"{path}.{key}",
                via=via,
            )
            for key, entry in mapping.entries.items()
        },
    )


def _mark_node(node: TreeNode, via: str, path: str) -> TreeNode:
    if isinstance(node, MappingNode):
        return mark_origin(node, via, path)
    if isinstance(node, SequenceNode):
        return SequenceNode(node.at, [_mark_node(item, via, path) for item in node.items])
    return node


def join_lists(lower: MappingEntry, upper: MappingEntry) -> MappingEntry:
    """Two lists as one that knows where each item is from; what is no list replaces."""
    if not isinstance(lower.value, SequenceNode) or not isinstance(upper.value, SequenceNode):
        return upper
    names = (*_item_names(lower, lower.value), *_item_names(upper, upper.value))
    items = [*lower.value.items, *upper.value.items]
    value = SequenceNode(upper.value.at, items, names)
    return MappingEntry(upper.key, value, name=upper.name, via=upper.via)


def _item_names(entry: MappingEntry, items: SequenceNode) -> tuple[ItemName, ...]:
    if items.names:
        return items.names
    return tuple(ItemName(entry.name, index, entry.via) for index in range(len(items.items)))
