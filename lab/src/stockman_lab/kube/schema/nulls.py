"""Null in objects of built-in kinds: nothing, or something empty in a list or a map."""

from __future__ import annotations

from stockman_lab.kube.schema.type import Json, Kind, Type

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
