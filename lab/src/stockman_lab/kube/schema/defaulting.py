"""What is filled in where an object says nothing, by its schema alone."""

from __future__ import annotations

import copy
from functools import cache

from stockman_lab.kube.schema.builtin_defaults import PLAIN, SPECIAL
from stockman_lab.kube.schema.type import MISSING, Json, Kind, Type


def fill_defaults(shape: Type, value: Json) -> None:
    """Fill in what a schema says, of built-in kinds as of custom ones, at every depth."""
    if isinstance(value, list):
        if shape.kind is Kind.LIST and shape.element is not None:
            _fill_entries(shape.element, value)
    elif isinstance(value, dict):
        if shape.kind is Kind.MAP and shape.element is not None:
            _fill_values(shape.element, value)
        elif shape.kind is Kind.OBJECT:
            _fill_fields(shape, value)


def _fill_entries(element: Type, value: list[Json]) -> None:
    for key, one in enumerate(value):
        if one is None and element.default is not MISSING and not element.nullable:
            value[key] = copy.deepcopy(element.default)
        fill_defaults(element, value[key])


def _fill_values(element: Type, value: dict[str, Json]) -> None:
    for name, one in value.items():
        if one is None and element.default is not MISSING and not element.nullable:
            value[name] = copy.deepcopy(element.default)
        fill_defaults(element, value[name])


def _fill_fields(shape: Type, value: dict[str, Json]) -> None:
    if not shape.is_custom:
        _fill_builtin(shape, value)
        for name in _fields_to_fill(shape):
            if value.get(name) is None:
                value[name] = _absent(shape.fields[name].type)
    fields = shape.fields
    for name, field in fields.items() if shape.is_custom else ():
        _fill_custom(field.type, value, name)
    for name in [*value]:
        one = value[name]
        if isinstance(one, dict | list) and (below := fields.get(name)) is not None:
            fill_defaults(below.type, one)


def _fill_custom(shape: Type, value: dict[str, Json], name: str) -> None:
    if value.get(name) is not None or (name in value and shape.nullable):
        return
    if shape.default is not MISSING:
        value[name] = copy.deepcopy(shape.default)
    else:
        # Servers read a null that may not be as nothing.
        value.pop(name, None)


@cache
def _fields_to_fill(shape: Type) -> tuple[str, ...]:
    """The fields of a built-in type that become something when nothing is said of them.

    A struct is never absent in Go: its own defaults are filled in all the same.
    """
    return tuple(
        name
        for name, field in shape.fields.items()
        if field.type.default is not MISSING
        or (field.type.kind is Kind.OBJECT and not field.pointer and _absent(field.type))
    )


def _absent(shape: Type) -> Json:
    if shape.default is not MISSING:
        return copy.deepcopy(shape.default)
    jsons: dict[str, Json] = {}
    fill_defaults(shape, jsons)
    return jsons


def _fill_builtin(shape: Type, value: dict[str, Json]) -> None:
    for name, default in PLAIN.get(shape.name, {}).items():
        content = value.get(name)
        field = shape.fields[name]
        if content is None or (
            not field.pointer and content in ("", 0, [], {}) and content is not False
        ):
            value[name] = copy.deepcopy(default)
    special = SPECIAL.get(shape.name)
    if special is not None:
        special(value)


_EMPTY: dict[Kind, Json] = {
    Kind.STRING: "",
    Kind.BYTES: "",
    Kind.INTEGER: 0,
    Kind.NUMBER: 0,
    Kind.BOOLEAN: False,
    Kind.INT_OR_STRING: 0,
    Kind.QUANTITY: "0",
}


def drop_nulls(shape: Type, value: Json) -> None:
    """Take null out of an object, and of all that is inside of it."""
    if isinstance(value, dict):
        for name, one in list(value.items()):
            if one is not None and not isinstance(one, dict | list):
                continue
            inner = shape.below(name)
            if inner is None or inner.kind is Kind.ANY:
                continue
            if one is not None:
                drop_nulls(inner, one)
            elif shape.kind is Kind.MAP:
                value[name] = _empty(inner)
            else:
                del value[name]
    elif isinstance(value, list) and shape.element is not None:
        for key, one in enumerate(value):
            if one is None:
                value[key] = _empty(shape.element)
            elif isinstance(one, dict | list):
                drop_nulls(shape.element, one)


def _empty(shape: Type) -> Json:
    if shape.kind in (Kind.OBJECT, Kind.MAP):
        return {}
    return [] if shape.kind is Kind.LIST else _EMPTY.get(shape.kind)


def prune(shape: Type, value: Json) -> None:
    """Drop the fields of a value that its type does not have."""
    if isinstance(value, list):
        if shape.kind is Kind.LIST and shape.element is not None:
            for item in value:
                prune(shape.element, item)
    elif isinstance(value, dict):
        _prune_fields(shape, value)


def _prune_fields(shape: Type, value: dict[str, Json]) -> None:
    if shape.kind is Kind.ANY and not shape.embedded:
        return
    for name in [*value]:
        below = shape.below(name)
        if below is not None:
            prune(below, value[name])
        elif not shape.is_open:
            del value[name]
