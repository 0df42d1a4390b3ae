"""What is filled in where an object says nothing, by its schema alone."""

from __future__ import annotations

import copy
from functools import cache

from stockman_lab.kube.schema.builtin_defaults import PLAIN, SPECIAL
from stockman_lab.kube.schema.type import MISSING, Json, Kind, Type


def fill_defaults(made: Type, value: Json) -> None:
    """Fill in what a schema says, of built-in kinds as of custom ones, at every depth."""
    if isinstance(value, list):
        if made.kind is Kind.LIST and made.element is not None:
            _fill_entries(made.element, value)
    elif isinstance(value, dict):
        if made.kind is Kind.MAP and made.element is not None:
            _fill_values(made.element, value)
        elif made.kind is Kind.OBJECT:
            _fill_fields(made, value)


def _fill_entries(element: Type, value: list[Json]) -> None:
    for place, one in enumerate(value):
        if one is None and element.default is not MISSING and not element.nullable:
            value[place] = copy.deepcopy(element.default)
        fill_defaults(element, value[place])


def _fill_values(element: Type, value: dict[str, Json]) -> None:
    for name, one in value.items():
        if one is None and element.default is not MISSING and not element.nullable:
            value[name] = copy.deepcopy(element.default)
        fill_defaults(element, value[name])


def _fill_fields(made: Type, value: dict[str, Json]) -> None:
    if not made.is_custom:
        _fill_builtin(made, value)
        for name in _filled_when_absent(made):
            if value.get(name) is None:
                value[name] = _absent(made.fields[name].type)
    fields = made.fields
    for name, field in fields.items() if made.is_custom else ():
        _fill_custom(field.type, value, name)
    for name in [*value]:
        one = value[name]
        if isinstance(one, dict | list) and (below := fields.get(name)) is not None:
            fill_defaults(below.type, one)


def _fill_custom(made: Type, value: dict[str, Json], name: str) -> None:
    if value.get(name) is not None or (name in value and made.nullable):
        return
    if made.default is not MISSING:
        value[name] = copy.deepcopy(made.default)
    else:
        # Servers read a null that may not be as nothing.
        value.pop(name, None)


@cache
def _filled_when_absent(made: Type) -> tuple[str, ...]:
    """The fields of a built-in type that become something when nothing is said of them.

    A struct is never absent in Go: its own defaults are filled in all the same.
    """
    return tuple(
        name
        for name, field in made.fields.items()
        if field.type.default is not MISSING
        or (field.type.kind is Kind.OBJECT and not field.pointer and _absent(field.type))
    )


def _absent(made: Type) -> Json:
    if made.default is not MISSING:
        return copy.deepcopy(made.default)
    jsons: dict[str, Json] = {}
    fill_defaults(made, jsons)
    return jsons


def _fill_builtin(made: Type, value: dict[str, Json]) -> None:
    for name, default in PLAIN.get(made.name, {}).items():
        one = value.get(name)
        field = made.fields[name]
        if one is None or (not field.pointer and one in ("", 0, [], {}) and one is not False):
            value[name] = copy.deepcopy(default)
    special = SPECIAL.get(made.name)
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


def drop_nulls(made: Type, value: Json) -> None:
    """Take null out of an object, and of all that is inside of it."""
    if isinstance(value, dict):
        for name, one in list(value.items()):
            if one is not None and not isinstance(one, dict | list):
                continue
            inner = made.below(name)
            if inner is None or inner.kind is Kind.ANY:
                continue
            if one is not None:
                drop_nulls(inner, one)
            elif made.kind is Kind.MAP:
                value[name] = _empty(inner)
            else:
                del value[name]
    elif isinstance(value, list) and made.element is not None:
        for place, one in enumerate(value):
            if one is None:
                value[place] = _empty(made.element)
            elif isinstance(one, dict | list):
                drop_nulls(made.element, one)


def _empty(made: Type) -> Json:
    if made.kind in (Kind.OBJECT, Kind.MAP):
        return {}
    return [] if made.kind is Kind.LIST else _EMPTY.get(made.kind)


def prune(made: Type, value: Json) -> None:
    """Drop the fields of a value that its type does not have."""
    if isinstance(value, list):
        if made.kind is Kind.LIST and made.element is not None:
            for one in value:
                prune(made.element, one)
    elif isinstance(value, dict):
        _prune_fields(made, value)


def _prune_fields(made: Type, value: dict[str, Json]) -> None:
    if made.kind is Kind.ANY and not made.embedded:
        return
    for name in [*value]:
        below = made.below(name)
        if below is not None:
            prune(below, value[name])
        elif not made.is_open:
            del value[name]
