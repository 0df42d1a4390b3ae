"""Types of built-in kinds, read from the tables when they are asked for.

A row of a table is the type of a field (`[T]` a list, `{T}` a map, `?T` kept as it comes), then its
marks: `*` a pointer, `o` left away when empty,
`O` left away also when it is an object without values, `r` required, `l=` kind of the list and its
keys, `m=` kind of the map, `p=` and `k=` strategy and key of strategic merge patches, `d=` default,
`e=` values, `E=` values of entries, `g=` how Go calls the type, `i=` the struct inside of the
object's own that has it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache

from stockman.model.package_file import read_package_bytes
from stockman_lab.kube.schema.type import MISSING, Field, Json, Kind, ListKind, Type

Rows = dict[str, dict[str, str]]

_PLAIN = {
    "bool": Type(Kind.BOOLEAN, go="bool"),
    "bytes": Type(Kind.BYTES, go="[]uint8"),
    "double": Type(Kind.NUMBER, "double", go="float64"),
    "int-or-string": Type(Kind.INT_OR_STRING, go="intstr.IntOrString"),
    "int32": Type(Kind.INTEGER, "int32", go="int32"),
    "int64": Type(Kind.INTEGER, "int64", go="int64"),
    "microtime": Type(Kind.MICRO_TIME, go="v1.MicroTime"),
    "quantity": Type(Kind.QUANTITY, go="resource.Quantity"),
    "string": Type(Kind.STRING, go="string"),
    "time": Type(Kind.TIME, go="v1.Time"),
}


_STRUCTS = frozenset({Kind.OBJECT, Kind.TIME, Kind.MICRO_TIME, Kind.QUANTITY, Kind.INT_OR_STRING})


@cache
def table(package: str) -> Rows:
    """All types of a package: name -> field -> row."""
    rows: Rows = json.loads(
        read_package_bytes("stockman_lab.kube.schema", f"tables/{package}.json")
    )
    return rows


@cache
def builtin(name: str) -> Type:
    """A type by the name of its definition, as `core.v1.Container`."""
    package, _, bare = name.rpartition(".")
    rows = table(package)[bare]
    marks = rows.get("", "")
    return Type(
        Kind.OBJECT,
        name=name,
        go=f"{package.rpartition('.')[2]}.{bare}",
        atomic="m=atomic" in marks,
        _made=lambda: dict(_fields(package, rows)),
    )


def _fields(package: str, rows: Mapping[str, str]) -> Iterator[tuple[str, Field]]:
    for name, row in rows.items():
        if name:
            yield name, _field(package, name, row)


def _field(package: str, name: str, row: str) -> Field:
    spelled, *words = row.split(" ")
    marks = dict(_mark(word) for word in words)
    pointer, omitted = "*" in marks, "o" in marks or "O" in marks
    result = _with_marks(_parse_type(package, spelled), marks)
    if result.kind in _STRUCTS and not pointer:
        # Go leaves no struct away unless it is told so.
        omitted = "O" in marks
    return Field(name, result, "r" in marks, pointer, omitted, marks.get("i", ""))


def _mark(word: str) -> tuple[str, str]:
    name, _, value = word.partition("=")
    return name, value


def _parse_type(package: str, spelled: str) -> Type:
    plain = _PLAIN.get(spelled)
    if plain is not None:
        return plain
    if spelled[0] == "?":
        return _as_it_comes(spelled[1:])
    if spelled[0] in "[{":
        element = _parse_type(package, spelled[1:-1])
        kind, go = (Kind.LIST, "[]") if spelled[0] == "[" else (Kind.MAP, "map[string]")
        return Type(kind, element=element, go=go + element.go)
    return builtin(spelled if "." in spelled else f"{package}.{spelled}")


@cache
def _as_it_comes(name: str) -> Type:
    return Type(Kind.ANY, name=name, is_open=True, go=".".join(name.split(".")[-2:]))


_CHANGING = frozenset("lmpkdeEg")


def _with_marks(plain: Type, marks: Mapping[str, str]) -> Type:
    """A type with marks of its own."""
    if not _CHANGING & marks.keys():
        return plain
    list_kind, _, keys = marks.get("l", "").partition(":")
    strategies = marks.get("p", "").split(",")
    default: Json = json.loads(marks.get("d", "null"))
    element = plain.element
    if element is not None and "E" in marks:
        element = _with_marks(element, {"e": marks["E"]})
    return Type(
        plain.kind,
        plain.format,
        plain.name,
        marks.get("g", plain.go),
        element,
        list_kind=ListKind(list_kind or "atomic"),
        keys=tuple(keys.split(",")) if keys else (),
        atomic=plain.atomic or marks.get("m") == "atomic",
        merges="merge" in strategies,
        retains_keys="retainKeys" in strategies,
        merge_key=marks.get("k", ""),
        enum=tuple(marks["e"].split("|")) if "e" in marks else (),
        default=default if "d" in marks else MISSING,
        is_open=plain.is_open,
        _made=plain._made,
    )
