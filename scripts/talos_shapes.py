"""Shapes of what Talos machines answer: which places are filled, never with what."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from google.protobuf.unknown_fields import UnknownFieldSet
from stockman_lab.talos.cosi.parts import Part, parts

Message = Any
"""A message, whose fields are known at run time only."""
MOST_ROWS = 200
UNKNOWN = "unknown"


def message_places(message: Message, place: str) -> Iterator[tuple[str, str]]:
    """Places in a message that are filled; numbers of fields that nobody knows are places too."""
    for field, value in message.ListFields():
        name = f"{place}.{field.name}"
        if field.message_type is None:
            yield name, "value"
        elif field.message_type.GetOptions().map_entry:
            yield name, "map"
        else:
            yield name, "message"
            for one in list(value)[:MOST_ROWS] if field.is_repeated else [value]:
                yield from message_places(one, name)
    unknowns: Any = UnknownFieldSet(message)
    for unknown in unknowns:
        yield f"{place}.#{unknown.field_number}", UNKNOWN


def spec_places(shape: str, minor: str, value: object, place: str) -> Iterator[tuple[str, str]]:
    """Places in the contents of a resource; names that users give do not become part of any."""
    if not isinstance(value, dict):
        yield place, _kind(value)
        return
    by_key, rest = _keys(shape, minor)
    for key, item in value.items():
        part = by_key.get(key)
        if part is not None:
            yield from _part_places(part, minor, item, f"{place}.{key}")
        elif not rest:
            yield f"{place}.{key}", UNKNOWN


def _keys(shape: str, minor: str) -> tuple[dict[str, Part], bool]:
    """Parts by their keys, and whether there may be others."""
    found: dict[str, Part] = {}
    is_open = False
    for part in parts(shape, minor):
        if part.row.is_inline and part.shape:
            inner, more = _keys(part.shape, minor)
            found |= inner
            is_open = is_open or more
        elif part.row.is_inline:
            is_open = True
        else:
            found[part.row.key] = part
    return found, is_open


def _part_places(part: Part, minor: str, value: object, place: str) -> Iterator[tuple[str, str]]:
    if value is None or part.is_free:
        return
    if part.is_map and isinstance(value, dict):
        values, place = list(value.values()), f"{place}{{}}"
    elif part.is_list and isinstance(value, list):
        values, place = value[:MOST_ROWS], f"{place}[]"
    else:
        values = [value]
    for one in values:
        if part.shape and isinstance(one, dict):
            yield from spec_places(part.shape, minor, one, place)
        elif one is not None:
            yield place, _kind(one)


def _kind(value: object) -> str:
    if isinstance(value, bool):
        return "bool"
    return "number" if isinstance(value, int | float) else type(value).__name__
