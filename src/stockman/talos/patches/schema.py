"""Types that merging depends on, one schema per minor, and trees of values with their origins."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import cache, cached_property
from typing import Any, NamedTuple, TypeAlias

from stockman.config import origin_tree
from stockman.config.source.tree import (
    MappingEntry,
    MappingNode,
    ScalarNode,
    SequenceNode,
    TreeNode,
)
from stockman.model.origin import Origin, derivation
from stockman.model.package_file import read_package_text
from stockman.model.secret import Secret
from stockman.talos.patches.scalars import moment_text

NUMBERS = {
    "int": (-(1 << 63), (1 << 63) - 1),
    "int8": (-(1 << 7), (1 << 7) - 1),
    "int16": (-(1 << 15), (1 << 15) - 1),
    "int32": (-(1 << 31), (1 << 31) - 1),
    "int64": (-(1 << 63), (1 << 63) - 1),
    "uint": (0, (1 << 64) - 1),
    "uint8": (0, (1 << 8) - 1),
    "uint16": (0, (1 << 16) - 1),
    "uint32": (0, (1 << 32) - 1),
    "uint64": (0, (1 << 64) - 1),
}
"""Integer types with their minimum and maximum."""
MINORS = ("1.11", "1.12", "1.13", "1.14")


class SchemaType:
    """One type: its kind, and the properties of that kind."""

    def __init__(self, table: TypeSchema, name: str) -> None:
        self._table = table
        self.name = name
        """The name in Go, `[]*v1alpha1.Route`; without Talos' package path."""
        row = table.row(name)
        described = row or {}
        under = described.get("under", name)
        self.codec = name if described.get("decodes") else ""
        """The name of the type if it decodes its own text. Empty: the kind defines it."""
        self.is_text = described.get("decodes") == "text"
        """Whether it decodes plain text instead of YAML."""
        self.merges = bool(described.get("merges"))
        """Whether the type has its own merge."""
        self.speaks = bool(described.get("speaks")) or name == "duration"
        """Whether the type has a text form, by which list items can be found."""
        self.zeroes = bool(described.get("zeroes"))
        """Whether the type defines its own zero value."""
        self.kind = _type_kind(str(under), row)
        self._under = str(under)
        self._rows = described.get("fields", [])
        self.words = _word_values(described.get("words", []))
        """Values of an enumeration with their numbers."""

    @property
    def minor(self) -> int:
        """The minor of this type, 11 for 1.11."""
        return self._table.number

    @cached_property
    def element(self) -> SchemaType:
        """The type that a pointer, list or map contains."""
        under = self._under
        if self.kind == "map":
            return self._table.type(under[under.index("]") + 1 :])
        return self._table.type(under.removeprefix("*").removeprefix("[]"))

    @cached_property
    def fields(self) -> tuple[SchemaField, ...]:
        """The fields of a struct in order; an embedded struct is one field without a name."""
        return tuple(
            SchemaField(row[0], self._table.type(row[1]), row[2] if len(row) > 2 else "")
            for row in self._rows
        )

    @cached_property
    def named(self) -> dict[str, SchemaField]:
        """The keys that a mapping may have, including those of embedded structs."""
        return {field.name: field for field in self.flat if field.name}

    @cached_property
    def flat(self) -> tuple[SchemaField, ...]:
        """The fields with embedded structs expanded."""
        return tuple(_flat_fields(self))

    @cached_property
    def free(self) -> SchemaType | None:
        """The type of values under other keys. None: other keys are refused."""
        for field in self.flat:
            if not field.name:
                return field.type
        return None

    def __repr__(self) -> str:
        return f"<{self.name}>"


class SchemaField:
    """One field of a struct."""

    __slots__ = ("inline", "name", "omits", "replaces", "type")

    def __init__(self, name: str, type_: SchemaType, marks: str) -> None:
        self.name = name
        self.type = type_
        self.omits = "o" in marks
        """Whether a zero value is omitted from the text."""
        self.inline = "i" in marks
        self.replaces = "r" in marks
        """Whether a patch replaces the whole value."""


class DocumentKind:
    """One kind of document."""

    __slots__ = ("conflicts", "is_link", "is_named", "name", "type")

    def __init__(self, name: str, type_: SchemaType, row: dict[str, object]) -> None:
        self.name = name
        self.type = type_
        self.is_named = bool(row.get("named"))
        self.is_link = bool(row.get("link"))
        conflicts = row.get("conflicts", [])
        self.conflicts = tuple(conflicts) if isinstance(conflicts, list) else ()
        """Kinds that must not have a document of the same name."""


class TypeSchema:
    """All documents and types of one minor."""

    def __init__(self, minor: str) -> None:
        self.minor = minor
        text = read_package_text("stockman.talos.patches.types", f"{minor}.json")
        rows = json.loads(text)
        self._rows: dict[str, dict[str, Any]] = rows["types"]
        self._types: dict[str, SchemaType] = {}
        self.kinds = {
            name: DocumentKind(name, self.type(row["type"]), row)
            for name, row in rows["documents"].items()
        }

    def type(self, name: str) -> SchemaType:
        if name not in self._types:
            self._types[name] = SchemaType(self, name)
        return self._types[name]

    def row(self, name: str) -> dict[str, Any] | None:
        """Return the row of a type. None: its name defines it."""
        return self._rows.get(name)

    @property
    def number(self) -> int:
        """The minor as a number: 11 for 1.11."""
        return int(self.minor.partition(".")[2])


@cache
def load_schema(minor: str) -> TypeSchema:
    """Return the schema of a minor, `1.13`."""
    return TypeSchema(minor)


def _type_kind(under: str, row: dict[str, Any] | None) -> str:
    if under.startswith("*"):
        return "pointer"
    if under == "[]uint8":
        return "bytes"
    if under.startswith("[]"):
        return "list"
    if under.startswith("map["):
        return "map"
    if row is not None and "under" not in row:
        return "struct"
    return under


def _flat_fields(type_: SchemaType) -> Iterator[SchemaField]:
    for field in type_.fields:
        if field.inline and field.type.kind == "struct":
            yield from _flat_fields(field.type)
        else:
            yield field


def _word_values(rows: list[str]) -> dict[str, int]:
    values = {}
    for row in rows:
        number, _, name = row.partition("=")
        values[name] = int(number)
    return values


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


def map_leaves(tree: Branch, change: Callable[[Leaf], Leaf]) -> Branch:
    """Return a copy of a mapping with every leaf changed; origins are kept."""
    return Branch(tree.origin, {key: copy_tree(item, change) for key, item in tree.items()})


def copy_tree(tree: Tree, change: Callable[[Leaf], Leaf] = lambda leaf: leaf) -> Tree:
    """Return a copy of a tree, optionally with every leaf changed."""
    if isinstance(tree, Leaf):
        return change(tree)
    if isinstance(tree, Branch):
        return map_leaves(tree, change)
    return Items(tree.origin, [copy_tree(item, change) for item in tree])


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
