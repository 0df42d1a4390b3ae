"""Types and documentation of keys, derived from the type hints of records.

The reader of files, the JSON schema and `stockman explain` use the same hints; this is the form for
the latter two.
"""

from __future__ import annotations

import ast
import sys
import types
from collections.abc import Iterable, Iterator
from dataclasses import MISSING, fields
from enum import Enum
from functools import cache
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from typing import Annotated, Any, Literal, NamedTuple, NewType, Union, get_args, get_origin
from uuid import UUID

from stockman.config.hints import type_hints
from stockman.model.formats import Between, Example, NonEmpty, Required, TextFormat
from stockman.model.origin import Traced
from stockman.model.secret import Secret
from stockman.model.version import Version


@cache
def field_docs(cls: type) -> dict[str, str]:
    """Return the documentation of the fields of a record class and its bases.

    Empty if the program was installed without its source.
    """
    docs: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        docs.update(_module_docs(base.__module__).get(base.__qualname__, {}))
    return docs


def class_doc(cls: type) -> str:
    """Return the documentation of a record class as one paragraph."""
    return _paragraph(cls.__doc__ or "")


@cache
def _module_docs(module: str) -> dict[str, dict[str, str]]:
    """Return documented fields by class; the source of a module is parsed once."""
    source = _module_source(module)
    if source is None:
        return {}
    return {
        node.name: dict(_iter_field_docs(node))
        for node in ast.parse(source).body
        if isinstance(node, ast.ClassDef)
    }


def _module_source(module: str) -> str | None:
    # Not `importlib.abc.InspectLoader`: that module takes longer to import than all of this.
    spec: Any = sys.modules[module].__spec__
    loader: Any = getattr(spec, "loader", None)
    if hasattr(loader, "get_source"):
        source: str | None = loader.get_source(module)
        return source
    if hasattr(loader, "get_data") and spec.origin:  # that of pytest, for one
        data: bytes = loader.get_data(spec.origin)
        return data.decode("utf-8")
    return None


def _iter_field_docs(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for statement, below in zip(node.body, node.body[1:], strict=False):
        match statement, below:
            case (
                ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                yield name, _paragraph(text)


def _paragraph(text: str) -> str:
    return " ".join(text.split())


class ValueType(NamedTuple):
    """A single value."""

    base: type
    shape: TextFormat | None = None
    limits: Between | None = None
    choices: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()


class AnyType(NamedTuple):
    """Any value."""

    examples: tuple[str, ...] = ()


class RecordType(NamedTuple):
    """The keys of a record class."""

    cls: type


class ListOf(NamedTuple):
    """A list of items."""

    item: KeyType
    non_empty: bool = False
    """At least one item is required."""


class MapOf(NamedTuple):
    """Values under names chosen by the user."""

    value: KeyType
    names: TextFormat | None = None
    """Format of the names. None: any name."""
    non_empty: bool = False


KeyType = ValueType | AnyType | RecordType | ListOf | MapOf


class RecordKey(NamedTuple):
    """One key of a record class."""

    name: str
    """Name as a user writes it."""
    type: KeyType
    required: bool
    default: object
    """None: no default, or the key is required."""
    docs: str


@cache
def record_keys(cls: type) -> tuple[RecordKey, ...]:
    """Return the keys of a record class, in source order."""
    hints = type_hints(cls)
    docs = field_docs(cls)
    keys = []
    for field in fields(cls):
        if not field.metadata.get("shown", True):
            continue
        has_default = field.default is not MISSING or field.default_factory is not MISSING
        default = field.default if field.default is not MISSING else None
        if field.default_factory is not MISSING:
            default = field.default_factory()
        hint = hints[field.name]
        keys.append(
            RecordKey(
                name=field.name.rstrip("_"),
                type=key_type(hint),
                required=not has_default
                or any(isinstance(marker, Required) for marker in _markers(hint)),
                default=default,
                docs=docs.get(field.name, ""),
            )
        )
    return tuple(keys)


def key_type(hint: object, markers: tuple[Any, ...] = ()) -> KeyType:
    """Return the type for a type hint; `markers` are those of enclosing hints."""
    origin = get_origin(hint)
    if origin is Annotated:
        return key_type(get_args(hint)[0], markers + _markers(hint))
    if origin in (Union, types.UnionType):
        inner = [argument for argument in get_args(hint) if argument is not type(None)]
        if len(inner) == 1:
            return key_type(inner[0], markers)
    if isinstance(hint, NewType):
        return key_type(hint.__supertype__, markers)
    filled = any(isinstance(marker, NonEmpty) for marker in markers)
    if origin is tuple:
        return ListOf(key_type(get_args(hint)[0]), filled)
    if origin is dict:
        key, value = get_args(hint)
        return MapOf(key_type(value), _first_shape(_markers(key)), filled)
    if hint is object:
        return AnyType(_examples(markers))
    if isinstance(hint, type) and issubclass(hint, Traced):
        return RecordType(hint)
    return _value_type(hint, markers)


def _value_type(hint: object, markers: tuple[Any, ...]) -> ValueType:
    limits = next((marker for marker in markers if isinstance(marker, Between)), None)
    if get_origin(hint) is Literal:
        return ValueType(str, choices=get_args(hint), examples=_examples(markers))
    if isinstance(hint, type) and issubclass(hint, Enum):
        return ValueType(
            str, choices=tuple(member.value for member in hint), examples=_examples(markers)
        )
    if not isinstance(hint, type) or hint not in BASE_TYPES:
        raise TypeError(f"{hint} is not a type of the language")
    shape = _first_shape(markers)
    examples = _examples(markers)
    if not examples and shape is not None:
        examples = (shape.example,)
    return ValueType(hint, shape, limits, examples=examples or BASE_TYPES[hint].examples)


def _markers(hint: object) -> tuple[Any, ...]:
    return get_args(hint)[1:] if get_origin(hint) is Annotated else ()


def _first_shape(markers: Iterable[Any]) -> TextFormat | None:
    return next((marker for marker in markers if isinstance(marker, TextFormat)), None)


def _examples(markers: Iterable[Any]) -> tuple[str, ...]:
    return tuple(marker.value for marker in markers if isinstance(marker, Example))


class BaseType(NamedTuple):
    """Description of a type of values."""

    singular: str
    plural: str
    pattern: str = ""
    """Pattern of the text, valid in Python and ECMAScript. Empty: no pattern."""
    examples: tuple[str, ...] = ()


_OCTET = r"(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_QUAD = rf"{_OCTET}(?:\.{_OCTET}){{3}}"
_PREFIX = rf"/(?:3[0-2]|[0-2]?[0-9]|{_QUAD})"
_HEX = "[0-9A-Fa-f]"
_NUMERAL = "(?:0|[1-9][0-9]*)"

BASE_TYPES: dict[type, BaseType] = {
    str: BaseType("text", "texts"),
    int: BaseType("whole number", "whole numbers", r"-?(?:0|[1-9][0-9]{0,18})"),
    bool: BaseType("true or false", "flags", r"true|false|True|False|TRUE|FALSE"),
    Secret: BaseType("secret", "secrets", examples=("${NAME_OF_A_VARIABLE}",)),
    IPv4Address: BaseType("IPv4 address", "IPv4 addresses", _QUAD, ("127.66.0.10",)),
    IPv4Network: BaseType(
        "IPv4 network", "IPv4 networks", rf"{_QUAD}(?:{_PREFIX})?", ("127.66.0.0/24",)
    ),
    IPv4Interface: BaseType(
        "IPv4 address with prefix",
        "IPv4 addresses with prefix",
        _QUAD + _PREFIX,
        ("127.66.0.10/24",),
    ),
    UUID: BaseType(
        "UUID",
        "UUIDs",
        rf"(?:urn:uuid:)?\{{?{_HEX}{{8}}-?(?:{_HEX}{{4}}-?){{3}}{_HEX}{{12}}\}}?",
        ("6f2d1c3e-0000-4000-8000-000000000001",),
    ),
    Version: BaseType(
        "version",
        "versions",
        rf"v?{_NUMERAL}\.{_NUMERAL}(?:\.{_NUMERAL})?(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?",
    ),
}


def find_record_type(kind: KeyType) -> RecordType | None:
    """Return the record type of a key, directly, in a list or under names."""
    match kind:
        case RecordType():
            return kind
        case ListOf(item=inner) | MapOf(value=inner):
            return find_record_type(inner)
    return None


def find_value_type(kind: KeyType) -> ValueType | AnyType | None:
    """Return the value type of a key, directly, in a list or under names."""
    match kind:
        case ValueType() | AnyType():
            return kind
        case ListOf(item=inner) | MapOf(value=inner):
            return find_value_type(inner)
    return None
