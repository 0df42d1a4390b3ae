"""Texts of files, and trees of their values with positions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from stockman.model.origin import Position
from stockman.model.pattern import pattern
from stockman.model.problem import Problem

MAX_BYTES = 4 * 1024 * 1024
MAX_DEPTH = 64
MAX_ALIASED = 100_000
"""Maximum number of values that aliases may add to a file."""

_BYTE_ORDER_MARKS = {
    b"\xef\xbb\xbf": "UTF-8 with a byte order mark",
    b"\xff\xfe": "UTF-16 (little endian)",
    b"\xfe\xff": "UTF-16 (big endian)",
}


class Unreadable(Exception):
    """A file that cannot be parsed; carries the problem."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.code)
        self.problem = problem


def decode_text(file: str, content: bytes) -> str:
    """Decode the text of a file; raises `Unreadable` if it is too large or not UTF-8."""
    if len(content) > MAX_BYTES:
        raise Unreadable(
            Problem(
                code="file.too-large",
                what=f"{file} is larger than a configuration can be",
                where=file,
                why=f"it has more than the {MAX_BYTES:,} bytes that are read",
                fix="check that this is the right file; split generated parts off",
            )
        )
    for mark, name in _BYTE_ORDER_MARKS.items():
        if content.startswith(mark):
            raise Unreadable(
                Problem(
                    code="file.byte-order-mark",
                    what=f"{file} starts with a byte order mark",
                    where=Position(file, 1, 1),
                    why=f"it is saved as {name}; other tools of the field read plain UTF-8 only",
                    fix="save the file as UTF-8 without a byte order mark",
                )
            )
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        before = content[: error.start]
        line = before.count(b"\n") + 1
        column = len(before.rpartition(b"\n")[2].decode("utf-8", "replace")) + 1
        raise Unreadable(
            Problem(
                code="file.encoding",
                what=f"{file} is not UTF-8 text",
                where=Position(file, line, column),
                why=f"byte 0x{content[error.start]:02x} cannot stand here",
                fix="save the file as UTF-8",
            )
        ) from None


_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_TRUE = frozenset({"true", "True", "TRUE"})
_FALSE = frozenset({"false", "False", "FALSE"})
_LONGEST_NUMBER = 300
"""Longer texts of digits are not treated as numbers."""
_INTEGER = pattern(r"[-+]?[0-9]+")
_FLOAT = pattern(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_NUMBERS = frozenset({".nan", ".NaN", ".NAN"})
_INFINITE = pattern(r"([-+]?)\.(?:inf|Inf|INF)")


class ScalarNode:
    """A value as written. `plain` means unquoted: only then can it be a number or null."""

    __slots__ = ("at", "plain", "span", "text")

    def __init__(self, text: str, at: Position, *, plain: bool, span: tuple[int, int]) -> None:
        self.text = text
        self.at = at
        self.plain = plain
        self.span = span
        """Start and end index in the source text."""

    @property
    def is_null(self) -> bool:
        return self.plain and self.text in _NULLS


class MappingEntry:
    """A key of a mapping with its value."""

    __slots__ = ("key", "name", "value", "via")

    def __init__(self, key: ScalarNode, value: TreeNode, *, name: str = "", via: str = "") -> None:
        self.key = key
        self.value = value
        self.name = name
        """Full path as the user wrote it, if it differs from the path in the tree."""
        self.via = via
        """How the entry got here, `class worker`; empty: written here."""


class MappingNode:
    """Unique keys in the order written."""

    __slots__ = ("at", "entries")

    def __init__(self, at: Position, entries: dict[str, MappingEntry] | None = None) -> None:
        self.at = at
        self.entries = {} if entries is None else entries

    def get(self, key: str) -> TreeNode | None:
        """Return the value of a key; None: there is none."""
        entry = self.entries.get(key)
        return None if entry is None else entry.value


class ItemName(NamedTuple):
    """Original path of a list item, and how it got here."""

    path: str
    """Path of its list. Empty: the current list."""
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
        """Names of the items of a list that was joined from several. Empty: a single list."""


TreeNode = ScalarNode | MappingNode | SequenceNode


def to_plain_data(node: TreeNode) -> object:
    """Return the value of a free-form node: unquoted texts are typed by the YAML 1.2 core
    schema."""
    if isinstance(node, MappingNode):
        return {key: to_plain_data(entry.value) for key, entry in node.entries.items()}
    if isinstance(node, SequenceNode):
        return [to_plain_data(item) for item in node.items]
    return _plain_value(node.text) if node.plain else node.text


def build_node(value: object, path: str, position_of: Callable[[str], Position]) -> TreeNode:
    """Build the tree of a free-form value; `position_of` returns the position of a path."""
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


def iter_scalars(node: TreeNode, *, keys: bool = False) -> Iterator[ScalarNode]:
    """Yield all scalar values below a node in order, and with `keys` each key before its value."""
    if isinstance(node, ScalarNode):
        yield node
    elif isinstance(node, MappingNode):
        for entry in node.entries.values():
            if keys:
                yield entry.key
            yield from iter_scalars(entry.value, keys=keys)
    else:
        for item in node.items:
            yield from iter_scalars(item, keys=keys)


def copy_node(node: TreeNode) -> TreeNode:
    """Copy a tree; mappings and lists are not shared."""
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
    """Merge two mappings: keys of `upper` win, mappings are merged, lists and values replaced."""
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
    """Return a mapping marked as inherited by `via`, with its original path."""
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
    """Join two lists, keeping the origin of each item; other values are replaced."""
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
