"""From tree to records: the type of a field decides what its text means.

Every mistake is reported with its place, and reading goes on: a field that cannot be read keeps
its default, a record without a field it cannot do without is left out.
"""

from __future__ import annotations

import difflib
import re
import types
from collections.abc import Callable
from dataclasses import MISSING, Field, fields
from enum import Enum
from functools import cache
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from typing import Annotated, Any, Literal, NewType, TypeVar, Union, get_args, get_origin
from uuid import UUID

from stockman.config.hints import type_hints
from stockman.config.source.tree import Entry, Mapping, Node, Scalar, Sequence, untyped
from stockman.model.origin import Origin, Position, Traced
from stockman.model.problem import Problems
from stockman.model.secret import Secret, SecretForm, is_encrypted, secret_form
from stockman.model.shapes import Between, NonEmpty, Required, Shape
from stockman.model.version import Version

T = TypeVar("T")


class Reading:
    """What comes to light while a tree is read."""

    def __init__(self, problems: Problems) -> None:
        self.problems = problems
        self.literals: list[Origin] = []
        """Secrets in the clear."""
        self.opaque: list[Origin] = []
        """Encrypted values of keys that are not secrets: present, but not known."""
        self.partial = False
        """Whether keys may be missing, because another mapping will give them."""


class _Unfit(Exception):
    """The value cannot be read; the problem is reported already, or the value is encrypted."""


class Place:
    """Where a value stands: its path in the user's words and its position."""

    __slots__ = ("at", "path", "via")

    def __init__(self, path: str, at: Position, via: str = "") -> None:
        self.path = path
        self.at = at
        self.via = via

    @property
    def origin(self) -> Origin:
        return Origin(self.at, self.path, self.via)


Reader = Callable[[Node, Place, Reading], Any]


def typed(cls: type[T], tree: Mapping, reading: Reading, path: str = "") -> T | None:
    """The record a mapping spells; None where a key it cannot do without is missing or unfit."""
    try:
        value: T = _record(cls, tree, Place(path, tree.at), reading)
    except _Unfit:
        return None
    return value


class _Key:
    """One field of a record class, ready to be read."""

    __slots__ = ("default", "field", "name", "reader", "required")

    def __init__(self, field: Field[Any], hint: Any) -> None:
        self.field = field
        self.name = field.name.rstrip("_")
        self.required = any(isinstance(one, Required) for one in _markers(hint))
        self.default = field.default is not MISSING or field.default_factory is not MISSING
        self.reader = _reader(hint)


@cache
def _keys(cls: type) -> dict[str, _Key]:
    hints = type_hints(cls)
    keys = (
        _Key(one, hints[one.name])
        for one in fields(cls)
        if one.metadata.get("shown", True)
    )
    return {key.name: key for key in keys}


def _record(cls: type, node: Node, place: Place, reading: Reading) -> Any:
    if not isinstance(node, Mapping):
        _wrong_kind(node, place, reading, "a mapping (`key: value` lines)")
    keys = _keys(cls)
    values: dict[str, Any] = {}
    origins: dict[str, Origin] = {"": place.origin}
    known: set[str] = set()
    for name, entry in node.entries.items():
        key = keys.get(name)
        inner = _inner(place, name, entry)
        if key is None:
            _unknown_key(name, entry, place, keys, reading)
            continue
        value = entry.value
        if isinstance(value, Scalar) and value.is_null:
            continue
        known.add(name)
        origins[key.field.name] = inner.origin
        try:
            values[key.field.name] = key.reader(value, inner, reading)
        except _Unfit:
            if not key.default:
                raise _Unfit from None
            continue
        if isinstance(value, Sequence):
            for index, item in enumerate(value.items):
                origins[f"{key.field.name}[{index}]"] = Origin(
                    item.at, f"{inner.path}[{index}]", inner.via
                )
    missing = False
    for key in keys.values():
        if key.name in known or (key.default and not key.required):
            continue
        missing = missing or not key.default
        if not reading.partial:
            _missing_key(key.name, place, reading)
    if missing:
        raise _Unfit
    return cls(origins=origins, **values) if issubclass(cls, Traced) else cls(**values)


def _inner(place: Place, name: str, entry: Entry) -> Place:
    path = entry.name or (f"{place.path}.{name}" if place.path else name)
    return Place(path, entry.value.at, entry.via or place.via)


@cache
def _reader(hint: Any) -> Reader:
    origin = get_origin(hint)
    if origin is Annotated:
        return _annotated(hint)
    if origin in (Union, types.UnionType):
        inner = [one for one in get_args(hint) if one is not type(None)]
        if len(inner) != 1:
            raise TypeError(f"{hint} is not a type of the language")
        return _reader(inner[0])
    if origin is tuple:
        return _sequence(_reader(get_args(hint)[0]))
    if origin is dict:
        key, value = get_args(hint)
        return _mapping(key, _reader(value))
    if origin is Literal:
        return _choice(get_args(hint))
    if isinstance(hint, NewType):
        return _reader(hint.__supertype__)
    if hint is object:
        return lambda node, place, reading: untyped(node)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return _choice(tuple(one.value for one in hint), hint)
    if hint in _SCALARS:
        return _SCALARS[hint]
    if isinstance(hint, type) and issubclass(hint, Traced):
        return lambda node, place, reading: _record(hint, node, place, reading)
    raise TypeError(f"{hint} is not a type of the language")


def _markers(hint: Any) -> tuple[Any, ...]:
    return get_args(hint)[1:] if get_origin(hint) is Annotated else ()


def _annotated(hint: Any) -> Reader:
    base, *markers = get_args(hint)
    reader = _reader(base)
    for marker in markers:
        if isinstance(marker, Shape):
            reader = _shaped(reader, marker)
        elif isinstance(marker, Between):
            reader = _limited(reader, marker)
        elif isinstance(marker, NonEmpty):
            reader = _filled(reader)
    return reader


def _shaped(reader: Reader, shape: Shape) -> Reader:
    pattern = re.compile(shape.pattern)

    def read(node: Node, place: Place, reading: Reading) -> Any:
        text = reader(node, place, reading)
        folded = text.lower() if shape.folded else text
        if len(folded) > shape.longest or pattern.fullmatch(folded) is None:
            _unfit(place, reading, text, shape.says, shape.example)
        return folded

    return read


def _limited(reader: Reader, limits: Between) -> Reader:
    def read(node: Node, place: Place, reading: Reading) -> Any:
        number = reader(node, place, reading)
        if not limits.low <= number <= limits.high:
            unit = f" {limits.unit}" if limits.unit else ""
            reading.problems.error(
                "config.range",
                f"{place.path} is out of range",
                why=f"{number} is not between {limits.low} and {limits.high}{unit}",
                fix=f"write a number from {limits.low} to {limits.high}",
                at=place.at,
            )
            raise _Unfit
        return number

    return read


def _filled(reader: Reader) -> Reader:
    def read(node: Node, place: Place, reading: Reading) -> Any:
        items = reader(node, place, reading)
        if not items:
            reading.problems.error(
                "config.empty",
                f"{place.path} is empty",
                why="at least one item is needed",
                fix="add an item, or remove the key",
                at=place.at,
            )
            raise _Unfit
        return items

    return read


def _sequence(reader: Reader) -> Reader:
    def read(node: Node, place: Place, reading: Reading) -> Any:
        if not isinstance(node, Sequence):
            _wrong_kind(node, place, reading, "a list (`- item` lines or `[a, b]`)")
        items = []
        for index, item in enumerate(node.items):
            try:
                inner = Place(f"{place.path}[{index}]", item.at, place.via)
                items.append(reader(item, inner, reading))
            except _Unfit:
                continue
        return tuple(items)

    return read


def _mapping(key_hint: Any, reader: Reader) -> Reader:
    shapes = [one for one in _markers(key_hint) if isinstance(one, Shape)]

    def read(node: Node, place: Place, reading: Reading) -> Any:
        if not isinstance(node, Mapping):
            _wrong_kind(node, place, reading, "a mapping (`key: value` lines)")
        items = {}
        for name, entry in node.entries.items():
            inner = _inner(place, name, entry)
            try:
                for shape in shapes:
                    _check_key(name, shape, entry.key.at, place, reading)
                items[name] = reader(entry.value, inner, reading)
            except _Unfit:
                continue
        return items

    return read


def _check_key(name: str, shape: Shape, at: Position, place: Place, reading: Reading) -> None:
    if re.fullmatch(shape.pattern, name) is None:
        reading.problems.error(
            "config.value",
            f"{place.path} has a name that does not fit",
            why=f"{name!r} is not {shape.says}",
            fix=f"name it for example {shape.example}",
            at=at,
        )
        raise _Unfit


def _choice(choices: tuple[Any, ...], make: Callable[[Any], Any] | None = None) -> Reader:
    def read(node: Node, place: Place, reading: Reading) -> Any:
        text = _text(node, place, reading)
        if text in choices:
            return make(text) if make is not None else text
        near = difflib.get_close_matches(text, choices, 1, 0.5)
        reading.problems.error(
            "config.choice",
            f"{place.path} has a value that does not exist",
            why=f"{text!r} is none of {', '.join(choices)}",
            fix=f"write {near[0] if near else ' or '.join(choices)}",
            at=place.at,
        )
        raise _Unfit

    return read


def _text(node: Node, place: Place, reading: Reading) -> str:
    if not isinstance(node, Scalar):
        _wrong_kind(node, place, reading, "a single value")
    if is_encrypted(node.text):
        reading.opaque.append(place.origin)
        raise _Unfit
    return node.text


def _whole(node: Node, place: Place, reading: Reading) -> int:
    text = _text(node, place, reading)
    if re.fullmatch(r"-?(0|[1-9][0-9]{0,18})", text) is None:
        _unfit(place, reading, text, "a whole number", "4")
    return int(text)


def _flag(node: Node, place: Place, reading: Reading) -> bool:
    text = _text(node, place, reading)
    if text not in ("true", "false", "True", "False", "TRUE", "FALSE"):
        _unfit(place, reading, text, "true or false", "true")
    return text.lower() == "true"


def _secret(node: Node, place: Place, reading: Reading) -> Secret:
    if not isinstance(node, Scalar):
        _wrong_kind(node, place, reading, "a single value")
    if secret_form(node.text) is SecretForm.LITERAL and node.text:
        reading.literals.append(place.origin)
    return Secret(node.text)


def _network(node: Node, place: Place, reading: Reading) -> IPv4Network:
    text = _text(node, place, reading)
    try:
        return IPv4Network(text)
    except ValueError:
        pass
    try:
        loose = IPv4Network(text, strict=False)
    except ValueError:
        _unfit(place, reading, text, "an IPv4 network", "127.66.0.0/24")
    reading.problems.error(
        "config.host-bits",
        f"{place.path} names an address, not a network",
        why=f"{text} has bits set behind its prefix; the network is {loose}",
        fix=f"write {loose}",
        at=place.at,
    )
    raise _Unfit


def _parsed(make: Callable[[str], Any], says: str, example: str) -> Reader:
    def read(node: Node, place: Place, reading: Reading) -> Any:
        text = _text(node, place, reading)
        try:
            return make(text)
        except ValueError:
            _unfit(place, reading, text, says, example)

    return read


def _unfit(place: Place, reading: Reading, text: str, says: str, example: str) -> Any:
    shown = text if len(text) <= 60 else f"{text[:57]}..."
    reading.problems.error(
        "config.value",
        f"{place.path} has a value that does not fit",
        why=f"{shown!r} is not {says}",
        fix=f"write for example {example}",
        at=place.at,
    )
    raise _Unfit


def _wrong_kind(node: Node, place: Place, reading: Reading, wanted: str) -> Any:
    if isinstance(node, Scalar) and is_encrypted(node.text):
        reading.opaque.append(place.origin)
        raise _Unfit
    found = {Mapping: "a mapping", Sequence: "a list", Scalar: "a single value"}[type(node)]
    reading.problems.error(
        "config.type",
        f"{place.path or 'the file'} has the wrong form",
        why=f"it is {found}; {wanted} is needed",
        fix=f"see `stockman explain {_general(place.path)}`",
        at=place.at,
    )
    raise _Unfit


def _unknown_key(
    name: str, entry: Entry, place: Place, keys: dict[str, _Key], reading: Reading
) -> None:
    near = difflib.get_close_matches(name, keys, 1, 0.6)
    here = place.path or "the file"
    reading.problems.error(
        "config.unknown-key",
        f"{entry.name or name} is not a key of {here}",
        why=f"{here} knows no {name!r}" + (f"; {near[0]} is the nearest" if near else ""),
        fix=f"write {near[0]}" if near else f"remove it, or see `stockman explain {_general(place.path)}`",
        at=entry.key.at,
    )


def _missing_key(name: str, place: Place, reading: Reading) -> None:
    path = f"{place.path}.{name}" if place.path else name
    reading.problems.error(
        "config.missing-key",
        f"{path} is missing",
        why=f"{place.path or 'the file'} cannot do without it",
        fix=f"add `{name}:`; see `stockman explain {_general(path)}`",
        at=place.at,
    )


def _general(path: str) -> str:
    """A path without list positions, as `explain` wants it."""
    return re.sub(r"\[\d+\]", "", path)


_SCALARS: dict[Any, Reader] = {
    str: _text,
    int: _whole,
    bool: _flag,
    Secret: _secret,
    IPv4Network: _network,
    IPv4Address: _parsed(IPv4Address, "an IPv4 address", "127.66.0.10"),
    IPv4Interface: _parsed(
        lambda text: IPv4Interface(text) if "/" in text else IPv4Interface("no prefix"),
        "an IPv4 address with prefix",
        "127.66.0.10/24",
    ),
    UUID: _parsed(UUID, "a UUID", "6f2d1c3e-0000-4000-8000-000000000001"),
    Version: _parsed(Version.parse, "a version", "1.12.1"),
}
