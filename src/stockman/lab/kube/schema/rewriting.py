"""Objects of built-in kinds as servers write them back.

What was read into Go's structs and written again has its fields in their order, without unknown
ones, without nulls and without empty values that need not be said, but with those that are always
said; quantities, times and bytes are in their one form.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache

from stockman.lab.kube.schema.quantity import canonical
from stockman.lab.kube.schema.type import Field, Json, Kind, Type

_ZEROS: Mapping[Kind, Json] = {
    Kind.STRING: "",
    Kind.INTEGER: 0,
    Kind.NUMBER: 0,
    Kind.BOOLEAN: False,
    Kind.QUANTITY: "0",
    Kind.INT_OR_STRING: 0,
}

_AS_GIVEN = frozenset({Kind.STRING, Kind.INTEGER, Kind.NUMBER, Kind.BOOLEAN, Kind.ANY})


def rewritten(made: Type, value: Json) -> Json:
    """A value that can be read as its type, as it is written back."""
    if made.is_custom or made.kind is Kind.ANY:
        return value
    if value is None:
        return _zero(made)
    match made.kind:
        case Kind.OBJECT:
            return _object(made, value) if isinstance(value, dict) else value
        case Kind.LIST if isinstance(value, list) and made.element is not None:
            element = made.element
            return [rewritten(element, one) for one in value]
        case Kind.MAP if isinstance(value, dict) and made.element is not None:
            element = made.element
            return {name: rewritten(element, value[name]) for name in sorted(value)}
        case Kind.QUANTITY if isinstance(value, str | int | float):
            return canonical(value)
        case Kind.TIME | Kind.MICRO_TIME if isinstance(value, str):
            return _moment(made.kind, value)
        case Kind.BYTES if isinstance(value, str):
            return base64.b64encode(base64.b64decode(value)).decode()
        case _:
            return value


def _object(made: Type, value: Mapping[str, Json]) -> dict[str, Json]:
    fields, always = _plan(made)
    found: dict[str, Json] = {}
    for name in sorted(value.keys() & fields.keys() | always, key=_places(made).__getitem__):
        field, given = fields[name], value.get(name)
        if given is None:
            if not field.omitted:
                found[name] = None if field.pointer else _zero(field.type)
            continue
        one = given if field.type.kind in _AS_GIVEN else rewritten(field.type, given)
        if _is_said(field, one):
            found[name] = one
        elif not field.omitted:
            found[name] = None
    return found


@cache
def _plan(made: Type) -> tuple[Mapping[str, Field], frozenset[str]]:
    """The fields of a type, and which of them are always written."""
    fields = made.fields
    return fields, frozenset(name for name, field in fields.items() if not field.omitted)


@cache
def _places(made: Type) -> Mapping[str, int]:
    return {name: place for place, name in enumerate(made.fields)}


def _is_said(field: Field, value: Json) -> bool:
    if field.type.kind in (Kind.LIST, Kind.MAP):
        # Storage cannot tell an empty list from none.
        return bool(value)
    if field.pointer or not field.omitted or field.type.kind is Kind.ANY:
        return True
    return value not in ("", 0, False, {}, None)


def _zero(made: Type) -> Json:
    if made.kind is Kind.OBJECT:
        return _object(made, {})
    return _ZEROS.get(made.kind)


def _moment(kind: Kind, text: str) -> str:
    moment = datetime.fromisoformat(text.replace(",", ".")).astimezone(UTC)
    form = "%Y-%m-%dT%H:%M:%SZ" if kind is Kind.TIME else "%Y-%m-%dT%H:%M:%S.%fZ"
    return moment.strftime(form)
