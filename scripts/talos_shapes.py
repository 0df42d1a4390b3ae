"""Paths and types of the values in answers of Talos machines, never the values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from google.protobuf.unknown_fields import UnknownFieldSet
from stockman_lab.talos.cosi.parts import Part, parts

Message = Any
"""A message, whose fields are known at run time only."""
MOST_ROWS = 200
UNKNOWN = "unknown"


def message_paths(message: Message, path: str) -> Iterator[tuple[str, str]]:
    """Places in a message that are filled; numbers of fields that nobody knows are places too."""
    for field, value in message.ListFields():
        name = f"{path}.{field.name}"
        if field.message_type is None:
            yield name, "value"
        elif field.message_type.GetOptions().map_entry:
            yield name, "map"
        else:
            yield name, "message"
            for item in list(value)[:MOST_ROWS] if field.is_repeated else [value]:
                yield from message_paths(item, name)
    unknowns: Any = UnknownFieldSet(message)
    for unknown in unknowns:
        yield f"{path}.#{unknown.field_number}", UNKNOWN


def spec_paths(shape: str, minor: str, value: object, path: str) -> Iterator[tuple[str, str]]:
    """Places in the contents of a resource; names that users give do not become part of any."""
    if not isinstance(value, dict):
        yield path, _kind(value)
        return
    by_key, remaining = _keys(shape, minor)
    for key, item in value.items():
        field = by_key.get(key)
        if field is not None:
            yield from _part_paths(field, minor, item, f"{path}.{key}")
        elif not remaining:
            yield f"{path}.{key}", UNKNOWN


def _keys(shape: str, minor: str) -> tuple[dict[str, Part], bool]:
    """Parts by their keys, and whether there may be others."""
    fields: dict[str, Part] = {}
    is_open = False
    for field in parts(shape, minor):
        if field.row.is_inline and field.shape:
            inner, more = _keys(field.shape, minor)
            fields |= inner
            is_open = is_open or more
        elif field.row.is_inline:
            is_open = True
        else:
            fields[field.row.key] = field
    return fields, is_open


def _part_paths(field: Part, minor: str, value: object, path: str) -> Iterator[tuple[str, str]]:
    if value is None or field.is_free:
        return
    if field.is_map and isinstance(value, dict):
        values, path = list(value.values()), f"{path}{{}}"
    elif field.is_list and isinstance(value, list):
        values, path = value[:MOST_ROWS], f"{path}[]"
    else:
        values = [value]
    for item in values:
        if field.shape and isinstance(item, dict):
            yield from spec_paths(field.shape, minor, item, path)
        elif item is not None:
            yield path, _kind(item)


def _kind(value: object) -> str:
    if isinstance(value, bool):
        return "bool"
    return "number" if isinstance(value, int | float) else type(value).__name__
