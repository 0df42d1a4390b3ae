"""What a key holds: a value, a list, a mapping or a block of keys, read off the type hints.

The reader of files, the JSON schema and `explain` see the same hints; this is the form in which
the latter two look at them.
"""

from __future__ import annotations

import types
from collections.abc import Iterable
from dataclasses import MISSING, fields
from enum import Enum
from functools import cache
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from typing import Annotated, Any, Literal, NamedTuple, NewType, Union, get_args, get_origin
from uuid import UUID

from stockman.config.describe import field_docs
from stockman.config.hints import type_hints
from stockman.model.origin import Traced
from stockman.model.secret import Secret
from stockman.model.shapes import Between, Example, NonEmpty, Required, Shape
from stockman.model.version import Version


class Value(NamedTuple):
    """A single value."""

    base: type
    shape: Shape | None = None
    limits: Between | None = None
    choices: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()


class Free(NamedTuple):
    """Anything at all."""

    examples: tuple[str, ...] = ()


class Block(NamedTuple):
    """Keys of a record class."""

    cls: type


class ListOf(NamedTuple):
    """Items in order."""

    item: Kind
    filled: bool = False
    """At least one item is needed."""


class MapOf(NamedTuple):
    """Values under names that the user chooses."""

    value: Kind
    names: Shape | None = None
    """What names have to look like. None: anything."""
    filled: bool = False


Kind = Value | Free | Block | ListOf | MapOf


class Member(NamedTuple):
    """One key of a record class."""

    name: str
    """As a user writes it."""
    kind: Kind
    required: bool
    default: object
    """None: nothing, or the key is required."""
    docs: str


@cache
def members(cls: type) -> tuple[Member, ...]:
    """The keys of a record class, in the order of its source."""
    hints = type_hints(cls)
    docs = field_docs(cls)
    found = []
    for field in fields(cls):
        if not field.metadata.get("shown", True):
            continue
        given = field.default is not MISSING or field.default_factory is not MISSING
        default = field.default if field.default is not MISSING else None
        if field.default_factory is not MISSING:
            default = field.default_factory()
        hint = hints[field.name]
        found.append(
            Member(
                name=field.name.rstrip("_"),
                kind=kind_of(hint),
                required=not given or any(isinstance(one, Required) for one in _markers(hint)),
                default=default,
                docs=docs.get(field.name, ""),
            )
        )
    return tuple(found)


def kind_of(hint: object, markers: tuple[Any, ...] = ()) -> Kind:
    """What a type hint allows; `markers` are those found around it."""
    origin = get_origin(hint)
    if origin is Annotated:
        return kind_of(get_args(hint)[0], markers + _markers(hint))
    if origin in (Union, types.UnionType):
        inner = [one for one in get_args(hint) if one is not type(None)]
        if len(inner) == 1:
            return kind_of(inner[0], markers)
    if isinstance(hint, NewType):
        return kind_of(hint.__supertype__, markers)
    filled = any(isinstance(one, NonEmpty) for one in markers)
    if origin is tuple:
        return ListOf(kind_of(get_args(hint)[0]), filled)
    if origin is dict:
        key, value = get_args(hint)
        return MapOf(kind_of(value), _first_shape(_markers(key)), filled)
    if hint is object:
        return Free(_examples(markers))
    if isinstance(hint, type) and issubclass(hint, Traced):
        return Block(hint)
    return _value(hint, markers)


def _value(hint: object, markers: tuple[Any, ...]) -> Value:
    limits = next((one for one in markers if isinstance(one, Between)), None)
    if get_origin(hint) is Literal:
        return Value(str, choices=get_args(hint), examples=_examples(markers))
    if isinstance(hint, type) and issubclass(hint, Enum):
        return Value(str, choices=tuple(one.value for one in hint), examples=_examples(markers))
    if not isinstance(hint, type) or hint not in BASES:
        raise TypeError(f"{hint} is not a type of the language")
    shape = _first_shape(markers)
    examples = _examples(markers)
    if not examples and shape is not None:
        examples = (shape.example,)
    return Value(hint, shape, limits, examples=examples or BASES[hint].examples)


def _markers(hint: object) -> tuple[Any, ...]:
    return get_args(hint)[1:] if get_origin(hint) is Annotated else ()


def _first_shape(markers: Iterable[Any]) -> Shape | None:
    return next((one for one in markers if isinstance(one, Shape)), None)


def _examples(markers: Iterable[Any]) -> tuple[str, ...]:
    return tuple(one.value for one in markers if isinstance(one, Example))


class Base(NamedTuple):
    """A type of values in words."""

    one: str
    many: str
    pattern: str = ""
    """What the text has to match, in the common core of Python's and ECMA's expressions.
    Empty: the type says it all."""
    examples: tuple[str, ...] = ()


_OCTET = r"(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_QUAD = rf"{_OCTET}(?:\.{_OCTET}){{3}}"
_PREFIX = rf"/(?:3[0-2]|[0-2]?[0-9]|{_QUAD})"
_HEX = "[0-9A-Fa-f]"
_NUMERAL = "(?:0|[1-9][0-9]*)"

BASES: dict[type, Base] = {
    str: Base("text", "texts"),
    int: Base("whole number", "whole numbers", r"-?(?:0|[1-9][0-9]{0,18})"),
    bool: Base("true or false", "flags", r"true|false|True|False|TRUE|FALSE"),
    Secret: Base("secret", "secrets", examples=("${NAME_OF_A_VARIABLE}",)),
    IPv4Address: Base("IPv4 address", "IPv4 addresses", _QUAD, ("127.66.0.10",)),
    IPv4Network: Base(
        "IPv4 network", "IPv4 networks", rf"{_QUAD}(?:{_PREFIX})?", ("127.66.0.0/24",)
    ),
    IPv4Interface: Base(
        "IPv4 address with prefix",
        "IPv4 addresses with prefix",
        _QUAD + _PREFIX,
        ("127.66.0.10/24",),
    ),
    UUID: Base(
        "UUID",
        "UUIDs",
        rf"(?:urn:uuid:)?\{{?{_HEX}{{8}}-?(?:{_HEX}{{4}}-?){{3}}{_HEX}{{12}}\}}?",
        ("6f2d1c3e-0000-4000-8000-000000000001",),
    ),
    Version: Base(
        "version",
        "versions",
        rf"v?{_NUMERAL}\.{_NUMERAL}(?:\.{_NUMERAL})?(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?",
    ),
}


def block_in(kind: Kind) -> Block | None:
    """The block that a key holds, be it alone, in a list or under names."""
    match kind:
        case Block():
            return kind
        case ListOf(item=inner) | MapOf(value=inner):
            return block_in(inner)
    return None


def value_in(kind: Kind) -> Value | Free | None:
    """The value that a key holds, be it alone, in a list or under names."""
    match kind:
        case Value() | Free():
            return kind
        case ListOf(item=inner) | MapOf(value=inner):
            return value_in(inner)
    return None
