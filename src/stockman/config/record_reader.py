"""Read records from a tree: the type of a field determines how its text is parsed.

Every error is reported with its position, and reading continues: an invalid field keeps its
default, and a record without a required field is omitted.
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
from stockman.config.nearest import nearest_name
from stockman.config.reading import (
    SCALAR_READERS,
    InvalidValue,
    KeyLocation,
    NodeReader,
    ReadContext,
    read_text,
    report_invalid_value,
    report_missing_key,
    report_unknown_key,
    report_wrong_type,
)
from stockman.config.source.tree import (
    MappingEntry,
    MappingNode,
    ScalarNode,
    SequenceNode,
    TreeNode,
    to_plain_data,
)
from stockman.model.formats import Between, KeepPositions, NonEmpty, Required, TextFormat
from stockman.model.origin import Origin, Position, Traced
from stockman.model.pattern import pattern
from stockman.model.secret import is_encrypted

T = TypeVar("T")


def read_record(cls: type[T], tree: MappingNode, reading: ReadContext, path: str = "") -> T | None:
    """Read a record from a mapping; None: a required key is missing or invalid."""
    try:
        return cast("T", _read_fields(cls, tree, KeyLocation(path, tree.at), reading))
    except InvalidValue:
        return None


class _FieldReader:
    """Reads one field of a record class."""

    __slots__ = ("default", "field", "free", "name", "reader", "required")

    def __init__(self, field: Field[Any], hint: object) -> None:
        self.field = field
        self.name = field.name.rstrip("_")
        self.required = any(isinstance(marker, Required) for marker in _markers(hint))
        self.default = field.default is not MISSING or field.default_factory is not MISSING
        self.free = hint == dict[str, object]
        self.reader = _build_reader(hint)


@cache
def _field_readers(cls: type) -> dict[str, _FieldReader]:
    hints = type_hints(cls)
    keys = (
        _FieldReader(field, hints[field.name])
        for field in fields(cls)
        if field.metadata.get("shown", True)
    )
    return {key.name: key for key in keys}


def _read_fields(cls: type, node: TreeNode, location: KeyLocation, reading: ReadContext) -> object:
    if not isinstance(node, MappingNode):
        report_wrong_type(node, location, reading, "a mapping (`key: value` lines)")
    keys = _field_readers(cls)
    values: dict[str, Any] = {}
    origins: dict[str, Origin] = {"": location.origin}
    known: set[str] = set()
    lacking = False
    for name, entry in node.entries.items():
        key = keys.get(name)
        inner = _child_location(location, name, entry)
        if key is None:
            report_unknown_key(name, entry, location, keys, reading)
            continue
        value = entry.value
        if isinstance(value, ScalarNode) and value.is_null:
            continue
        known.add(name)
        origins[key.field.name] = inner.origin
        try:
            values[key.field.name] = key.reader(value, inner, reading)
        except InvalidValue:
            lacking = lacking or not key.default
            continue
        if isinstance(value, SequenceNode):
            for index, item in enumerate(value.items):
                name = f"{inner.path}[{index}]"
                origins[f"{key.field.name}[{index}]"] = Origin(item.at, name, inner.via)
            for index, (path, at, via) in enumerate(value.names):
                name = f"{path or inner.path}[{at}]"
                origins[f"{key.field.name}[{index}]"] = Origin(value.items[index].at, name, via)
        elif key.free and isinstance(value, MappingNode):
            origins |= _nested_origins(value, key.field.name, inner)
    for key in keys.values():
        if key.name in known or (key.default and not key.required):
            continue
        lacking = lacking or not key.default
        if not reading.partial:
            report_missing_key(key.name, location, reading)
    if lacking:
        raise InvalidValue
    return cls(origins=origins, **values) if issubclass(cls, Traced) else cls(**values)


def _nested_origins(tree: MappingNode, name: str, location: KeyLocation) -> dict[str, Origin]:
    """Return the origins of keys in a free-form mapping, so that its owner can report positions."""
    origins = {}
    for key, entry in tree.entries.items():
        inner = _child_location(location, key, entry)
        origins[f"{name}.{key}"] = inner.origin
        if isinstance(entry.value, MappingNode):
            origins |= _nested_origins(entry.value, f"{name}.{key}", inner)
    return origins


def _child_location(parent: KeyLocation, name: str, entry: MappingEntry) -> KeyLocation:
    path = entry.name or (f"{parent.path}.{name}" if parent.path else name)
    return KeyLocation(path, entry.value.at, entry.via or parent.via)


@cache
def _build_reader(hint: object) -> NodeReader:
    origin = get_origin(hint)
    if origin is Annotated:
        return _build_annotated_reader(hint)
    if origin in (Union, types.UnionType):
        inner = [argument for argument in get_args(hint) if argument is not type(None)]
        if len(inner) != 1:
            raise TypeError(f"{hint} is not a type of the language")
        return _build_reader(inner[0])
    if origin is tuple:
        return _list_reader(_build_reader(get_args(hint)[0]))
    if origin is dict:
        key, value = get_args(hint)
        return _mapping_reader(key, _build_reader(value))
    if origin is Literal:
        return _choice_reader(get_args(hint))
    if isinstance(hint, NewType):
        return _build_reader(hint.__supertype__)
    if hint is object:
        return _read_untyped_value
    if isinstance(hint, type) and issubclass(hint, Enum):
        return _choice_reader(tuple(member.value for member in hint), hint)
    if hint in SCALAR_READERS:
        return SCALAR_READERS[hint]
    if isinstance(hint, type) and issubclass(hint, Traced):
        return lambda node, location, reading: _read_fields(hint, node, location, reading)
    raise TypeError(f"{hint} is not a type of the language")


def _read_untyped_value(node: TreeNode, location: KeyLocation, reading: ReadContext) -> object:
    """Read any value; encrypted values inside are recorded."""
    for inner, where in _walk_scalars(node, location):
        if is_encrypted(inner.text):
            reading.encrypted.append(where.origin)
    return to_plain_data(node)


def _walk_scalars(
    node: TreeNode, location: KeyLocation
) -> Iterator[tuple[ScalarNode, KeyLocation]]:
    if isinstance(node, ScalarNode):
        yield node, location
    elif isinstance(node, MappingNode):
        for name, entry in node.entries.items():
            yield from _walk_scalars(entry.value, _child_location(location, name, entry))
    else:
        for index, item in enumerate(node.items):
            inner = KeyLocation(f"{location.path}[{index}]", item.at, location.via)
            yield from _walk_scalars(item, inner)


def _markers(hint: object) -> tuple[Any, ...]:
    return get_args(hint)[1:] if get_origin(hint) is Annotated else ()


def _build_annotated_reader(hint: object) -> NodeReader:
    base, *markers = get_args(hint)
    reader = _build_reader(base)
    for marker in markers:
        if isinstance(marker, TextFormat):
            reader = _format_reader(reader, marker)
        elif isinstance(marker, Between):
            reader = _range_reader(reader, marker)
        elif isinstance(marker, NonEmpty):
            reader = _non_empty_reader(reader)
        elif isinstance(marker, KeepPositions):
            reader = _position_keeper(reader)
    return reader


def _position_keeper(reader: NodeReader) -> NodeReader:
    def read(node: TreeNode, location: KeyLocation, reading: ReadContext) -> object:
        reading.kept_nodes[node.at] = node
        return reader(node, location, reading)

    return read


def _format_reader(reader: NodeReader, shape: TextFormat) -> NodeReader:
    form = pattern(shape.pattern, re.ASCII)

    def read(node: TreeNode, location: KeyLocation, reading: ReadContext) -> object:
        text = reader(node, location, reading)
        folded = text.lower() if shape.lower_case else text
        if len(folded) > shape.max_length or form.fullmatch(folded) is None:
            report_invalid_value(location, reading, text, shape.description, shape.example)
        return folded

    return read


def _range_reader(reader: NodeReader, limits: Between) -> NodeReader:
    def read(node: TreeNode, location: KeyLocation, reading: ReadContext) -> object:
        number = reader(node, location, reading)
        if not limits.low <= number <= limits.high:
            unit = f" {limits.unit}" if limits.unit else ""
            reading.problems.error(
                "config.range",
                f"{location.path} is out of range",
                why=f"{number} is not between {limits.low} and {limits.high}{unit}",
                fix=f"write a number from {limits.low} to {limits.high}",
                at=location.at,
            )
            raise InvalidValue
        return number

    return read


def _non_empty_reader(reader: NodeReader) -> NodeReader:
    def read(node: TreeNode, location: KeyLocation, reading: ReadContext) -> object:
        items = reader(node, location, reading)
        if not items:
            reading.problems.error(
                "config.empty",
                f"{location.path} is empty",
                why="at least one item is needed",
                fix="add an item, or remove the key",
                at=location.at,
            )
            raise InvalidValue
        return items

    return read


def _list_reader(reader: NodeReader) -> NodeReader:
    def read(node: TreeNode, location: KeyLocation, reading: ReadContext) -> object:
        if not isinstance(node, SequenceNode):
            report_wrong_type(node, location, reading, "a list (`- item` lines or `[a, b]`)")
        items = []
        for index, item in enumerate(node.items):
            try:
                inner = KeyLocation(f"{location.path}[{index}]", item.at, location.via)
                items.append(reader(item, inner, reading))
            except InvalidValue:
                continue
        return tuple(items)

    return read


def _mapping_reader(key_hint: object, reader: NodeReader) -> NodeReader:
    shapes = [marker for marker in _markers(key_hint) if isinstance(marker, TextFormat)]

    def read(node: TreeNode, location: KeyLocation, reading: ReadContext) -> object:
        if not isinstance(node, MappingNode):
            report_wrong_type(node, location, reading, "a mapping (`key: value` lines)")
        items = {}
        for name, entry in node.entries.items():
            inner = _child_location(location, name, entry)
            try:
                for shape in shapes:
                    _check_key(name, shape, entry.key.at, location, reading)
                items[name] = reader(entry.value, inner, reading)
            except InvalidValue:
                continue
        return items

    return read


def _check_key(
    name: str, shape: TextFormat, at: Position, location: KeyLocation, reading: ReadContext
) -> None:
    if re.fullmatch(shape.pattern, name, re.ASCII) is None:
        reading.problems.error(
            "config.value",
            f"{location.path} has a name that does not fit",
            why=f"{name!r} is not {shape.description}",
            fix=f"name it for example {shape.example}",
            at=at,
        )
        raise InvalidValue


def _choice_reader(
    choices: tuple[Any, ...], make: Callable[[Any], Any] | None = None
) -> NodeReader:
    def read(node: TreeNode, location: KeyLocation, reading: ReadContext) -> object:
        text = read_text(node, location, reading)
        if text in choices:
            return make(text) if make is not None else text
        near = nearest_name(text, choices)
        reading.problems.error(
            "config.choice",
            f"{location.path} has a value that does not exist",
            why=f"{text!r} is none of {', '.join(choices)}",
            fix=f"write {near or ' or '.join(choices)}",
            at=location.at,
        )
        raise InvalidValue

    return read
