"""Types of values in expressions."""

from __future__ import annotations

from typing import NamedTuple

_PARTED = ("list", "map", "optional", "type")


class Kind(NamedTuple):
    """A type: its name, and the types that it is made of."""

    name: str
    parts: tuple[Kind, ...] = ()

    def __str__(self) -> str:
        inner = ", ".join(str(part) for part in self.parts)
        return f"{self.name}({inner})" if inner else self.name


BOOL = Kind("bool")
INT = Kind("int")
UINT = Kind("uint")
DOUBLE = Kind("double")
STRING = Kind("string")
BYTES = Kind("bytes")
NULL = Kind("null_type")
DYN = Kind("dyn")
"""Anything: known only when the expression is evaluated."""
FREE = Kind("_")
"""Something of which nothing is known: an item of an empty list."""
DURATION = Kind("google.protobuf.Duration")
TIMESTAMP = Kind("google.protobuf.Timestamp")
A = Kind("A")
B = Kind("B")
"""Stand in overloads for a type that is the same wherever they stand."""
PLACEHOLDERS = (A, B)
SIMPLE = (BOOL, INT, UINT, DOUBLE, STRING, BYTES, NULL, DYN)


def list_of(item: Kind) -> Kind:
    return Kind("list", (item,))


def map_of(key: Kind, value: Kind) -> Kind:
    return Kind("map", (key, value))


def optional_of(value: Kind) -> Kind:
    return Kind("optional", (value,))


def type_of(value: Kind) -> Kind:
    return Kind("type", (value,))


def kind_of(text: str) -> Kind:
    """The type of a field as the tables write it, `list(string)`."""
    name, bracket, rest = text.partition("(")
    if not bracket:
        return Kind(name)
    return Kind(name, tuple(kind_of(part) for part in rest[:-1].split(", ")))


def fits(value: Kind, wanted: Kind, bound: dict[Kind, Kind]) -> bool:
    """Whether a value of a type can stand for another; `bound`: what placeholders stand for."""
    if wanted in PLACEHOLDERS:
        known = bound.setdefault(wanted, value)
        if not fits(value, known, bound) and not fits(known, value, bound):
            return False
        bound[wanted] = general(known, value)
        return True
    if FREE in (value, wanted) or DYN in (value, wanted):
        return True
    if value == NULL:
        return wanted == NULL or "." in wanted.name or wanted.name == "optional"
    if value.name != wanted.name:
        return False
    if value.name == "type" or not value.parts or not wanted.parts:
        return True
    return all(
        fits(one, other, bound) for one, other in zip(value.parts, wanted.parts, strict=True)
    )


def filled(kind: Kind, bound: dict[Kind, Kind]) -> Kind:
    """A type with its placeholders replaced; one that stands for nothing is anything."""
    if kind in PLACEHOLDERS:
        return bound.get(kind, DYN)
    return Kind(kind.name, tuple(filled(part, bound) for part in kind.parts))


def general(one: Kind, other: Kind) -> Kind:
    """The type that both fit into."""
    if FREE in (one, other):
        return one if other == FREE else other
    if DYN in (one, other):
        return DYN
    if NULL in (one, other):
        return one if other == NULL else other
    if len(one.parts) != len(other.parts):
        return one
    pairs = zip(one.parts, other.parts, strict=True)
    return Kind(one.name, tuple(general(left, right) for left, right in pairs))


def joined(kinds: list[Kind]) -> Kind:
    """The type of the items of a list that is written out."""
    if not kinds:
        return FREE
    found = kinds[0]
    for kind in kinds[1:]:
        if not fits(kind, found, {}) and not fits(found, kind, {}):
            return DYN
        found = general(found, kind)
    return found
