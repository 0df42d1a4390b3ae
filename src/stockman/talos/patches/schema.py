"""Types of Talos that merging depends on: one schema per minor, generated from Talos' library."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache, cached_property
from typing import Any

from stockman.model.package_file import read_package_text

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
