"""From tree to records: the type of a field decides what its text means.

Every mistake is reported with its place, and reading goes on: a field that cannot be read keeps
its default, a record without a field it cannot do without is left out.
"""

from __future__ import annotations

import re
import types
from collections.abc import Callable, Iterator
from dataclasses import MISSING, Field, fields
from enum import Enum
from functools import cache
from typing import Annotated, Any, Literal, NewType, TypeVar, Union, cast, get_args, get_origin

from stockman.config.hints import type_hints
from stockman.config.nearest import nearest
from stockman.config.reading import (
    Place,
    Reader,
    Reading,
    Unfit,
    missing_key,
    unfit,
    unknown_key,
    wrong_kind,
)
from stockman.config.scalars import SCALARS, text_of
from stockman.config.source.tree import Entry, Mapping, Node, Scalar, Sequence, untyped
from stockman.model.origin import Origin, Position, Traced
from stockman.model.pattern import pattern
from stockman.model.secret import is_encrypted
from stockman.model.shapes import Between, Kept, NonEmpty, Required, Shape

T = TypeVar("T")


def typed(cls: type[T], tree: Mapping, reading: Reading, path: str = "") -> T | None:
    """The record a mapping spells; None where a key it cannot do without is missing or unfit."""
    try:
        return cast("T", _record(cls, tree, Place(path, tree.at), reading))
    except Unfit:
        return None


class _Key:
    """One field of a record class, ready to be read."""

    __slots__ = ("default", "field", "free", "name", "reader", "required")

    def __init__(self, field: Field[Any], hint: object) -> None:
        self.field = field
        self.name = field.name.rstrip("_")
        self.required = any(isinstance(one, Required) for one in _markers(hint))
        self.default = field.default is not MISSING or field.default_factory is not MISSING
        self.free = hint == dict[str, object]
        self.reader = _reader(hint)


@cache
def _keys(cls: type) -> dict[str, _Key]:
    hints = type_hints(cls)
    keys = (_Key(one, hints[one.name]) for one in fields(cls) if one.metadata.get("shown", True))
    return {key.name: key for key in keys}


def _record(cls: type, node: Node, place: Place, reading: Reading) -> object:
    if not isinstance(node, Mapping):
        wrong_kind(node, place, reading, "a mapping (`key: value` lines)")
    keys = _keys(cls)
    values: dict[str, Any] = {}
    origins: dict[str, Origin] = {"": place.origin}
    known: set[str] = set()
    lacking = False
    for name, entry in node.entries.items():
        key = keys.get(name)
        inner = _inner(place, name, entry)
        if key is None:
            unknown_key(name, entry, place, keys, reading)
            continue
        value = entry.value
        if isinstance(value, Scalar) and value.is_null:
            continue
        known.add(name)
        origins[key.field.name] = inner.origin
        try:
            values[key.field.name] = key.reader(value, inner, reading)
        except Unfit:
            lacking = lacking or not key.default
            continue
        if isinstance(value, Sequence):
            for index, item in enumerate(value.items):
                name = f"{inner.path}[{index}]"
                origins[f"{key.field.name}[{index}]"] = Origin(item.at, name, inner.via)
            for index, (path, at, via) in enumerate(value.names):
                name = f"{path or inner.path}[{at}]"
                origins[f"{key.field.name}[{index}]"] = Origin(value.items[index].at, name, via)
        elif key.free and isinstance(value, Mapping):
            origins |= _inside(value, key.field.name, inner)
    for key in keys.values():
        if key.name in known or (key.default and not key.required):
            continue
        lacking = lacking or not key.default
        if not reading.partial:
            missing_key(key.name, place, reading)
    if lacking:
        raise Unfit
    return cls(origins=origins, **values) if issubclass(cls, Traced) else cls(**values)


def _inside(tree: Mapping, name: str, place: Place) -> dict[str, Origin]:
    """Where the keys of a free-form mapping stand, so that whoever knows their meaning can say."""
    origins = {}
    for key, entry in tree.entries.items():
        inner = _inner(place, key, entry)
        origins[f"{name}.{key}"] = inner.origin
        if isinstance(entry.value, Mapping):
            origins |= _inside(entry.value, f"{name}.{key}", inner)
    return origins


def _inner(place: Place, name: str, entry: Entry) -> Place:
    path = entry.name or (f"{place.path}.{name}" if place.path else name)
    return Place(path, entry.value.at, entry.via or place.via)


@cache
def _reader(hint: object) -> Reader:
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
        return _untyped
    if isinstance(hint, type) and issubclass(hint, Enum):
        return _choice(tuple(one.value for one in hint), hint)
    if hint in SCALARS:
        return SCALARS[hint]
    if isinstance(hint, type) and issubclass(hint, Traced):
        return lambda node, place, reading: _record(hint, node, place, reading)
    raise TypeError(f"{hint} is not a type of the language")


def _untyped(node: Node, place: Place, reading: Reading) -> object:
    """Whatever stands there; encrypted values in it are not known."""
    for inner, where in _scalars(node, place):
        if is_encrypted(inner.text):
            reading.opaque.append(where.origin)
    return untyped(node)


def _scalars(node: Node, place: Place) -> Iterator[tuple[Scalar, Place]]:
    if isinstance(node, Scalar):
        yield node, place
    elif isinstance(node, Mapping):
        for name, entry in node.entries.items():
            yield from _scalars(entry.value, _inner(place, name, entry))
    else:
        for index, item in enumerate(node.items):
            inner = Place(f"{place.path}[{index}]", item.at, place.via)
            yield from _scalars(item, inner)


def _markers(hint: object) -> tuple[Any, ...]:
    return get_args(hint)[1:] if get_origin(hint) is Annotated else ()


def _annotated(hint: object) -> Reader:
    base, *markers = get_args(hint)
    reader = _reader(base)
    for marker in markers:
        if isinstance(marker, Shape):
            reader = _shaped(reader, marker)
        elif isinstance(marker, Between):
            reader = _limited(reader, marker)
        elif isinstance(marker, NonEmpty):
            reader = _filled(reader)
        elif isinstance(marker, Kept):
            reader = _kept(reader)
    return reader


def _kept(reader: Reader) -> Reader:
    def read(node: Node, place: Place, reading: Reading) -> object:
        reading.kept[node.at] = node
        return reader(node, place, reading)

    return read


def _shaped(reader: Reader, shape: Shape) -> Reader:
    form = pattern(shape.pattern, re.ASCII)

    def read(node: Node, place: Place, reading: Reading) -> object:
        text = reader(node, place, reading)
        folded = text.lower() if shape.folded else text
        if len(folded) > shape.longest or form.fullmatch(folded) is None:
            unfit(place, reading, text, shape.says, shape.example)
        return folded

    return read


def _limited(reader: Reader, limits: Between) -> Reader:
    def read(node: Node, place: Place, reading: Reading) -> object:
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
            raise Unfit
        return number

    return read


def _filled(reader: Reader) -> Reader:
    def read(node: Node, place: Place, reading: Reading) -> object:
        items = reader(node, place, reading)
        if not items:
            reading.problems.error(
                "config.empty",
                f"{place.path} is empty",
                why="at least one item is needed",
                fix="add an item, or remove the key",
                at=place.at,
            )
            raise Unfit
        return items

    return read


def _sequence(reader: Reader) -> Reader:
    def read(node: Node, place: Place, reading: Reading) -> object:
        if not isinstance(node, Sequence):
            wrong_kind(node, place, reading, "a list (`- item` lines or `[a, b]`)")
        items = []
        for index, item in enumerate(node.items):
            try:
                inner = Place(f"{place.path}[{index}]", item.at, place.via)
                items.append(reader(item, inner, reading))
            except Unfit:
                continue
        return tuple(items)

    return read


def _mapping(key_hint: object, reader: Reader) -> Reader:
    shapes = [one for one in _markers(key_hint) if isinstance(one, Shape)]

    def read(node: Node, place: Place, reading: Reading) -> object:
        if not isinstance(node, Mapping):
            wrong_kind(node, place, reading, "a mapping (`key: value` lines)")
        items = {}
        for name, entry in node.entries.items():
            inner = _inner(place, name, entry)
            try:
                for shape in shapes:
                    _check_key(name, shape, entry.key.at, place, reading)
                items[name] = reader(entry.value, inner, reading)
            except Unfit:
                continue
        return items

    return read


def _check_key(name: str, shape: Shape, at: Position, place: Place, reading: Reading) -> None:
    if re.fullmatch(shape.pattern, name, re.ASCII) is None:
        reading.problems.error(
            "config.value",
            f"{place.path} has a name that does not fit",
            why=f"{name!r} is not {shape.says}",
            fix=f"name it for example {shape.example}",
            at=at,
        )
        raise Unfit


def _choice(choices: tuple[Any, ...], make: Callable[[Any], Any] | None = None) -> Reader:
    def read(node: Node, place: Place, reading: Reading) -> object:
        text = text_of(node, place, reading)
        if text in choices:
            return make(text) if make is not None else text
        near = nearest(text, choices)
        reading.problems.error(
            "config.choice",
            f"{place.path} has a value that does not exist",
            why=f"{text!r} is none of {', '.join(choices)}",
            fix=f"write {near or ' or '.join(choices)}",
            at=place.at,
        )
        raise Unfit

    return read
