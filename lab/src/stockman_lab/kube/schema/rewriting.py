"""Objects of built-in kinds as servers write them back.

What was read into Go's structs and written again has its fields in their order, without unknown
ones, without nulls and without empty values that need not be said, but with those that are always
said; quantities, times and bytes are in their one form.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache, lru_cache
from typing import NamedTuple

from stockman_lab.kube.schema.quantity import canonical
from stockman_lab.kube.schema.type import Field, Json, Kind, Type

_ZEROS: Mapping[Kind, Json] = {
    Kind.STRING: "",
    Kind.INTEGER: 0,
    Kind.NUMBER: 0,
    Kind.BOOLEAN: False,
    Kind.QUANTITY: "0",
    Kind.INT_OR_STRING: 0,
}

_AS_GIVEN = frozenset({Kind.STRING, Kind.INTEGER, Kind.NUMBER, Kind.BOOLEAN, Kind.ANY})
_COLLECTIONS = frozenset({Kind.LIST, Kind.MAP})
_EMPTY: tuple[Json, ...] = ("", 0, False, {}, None)


class _Step(NamedTuple):
    """How one field is written, found out once."""

    name: str
    type: Type
    is_pointer: bool
    is_omitted: bool
    is_as_given: bool
    is_collection: bool
    """Storage cannot tell an empty list from none."""
    is_always_said: bool
    """Whether it is written, whatever was given."""


def rewritten(shape: Type, value: Json) -> Json:
    """A value that can be read as its type, as it is written back."""
    if shape.is_custom or shape.kind is Kind.ANY:
        return value
    if value is None:
        return _zero(shape)
    match shape.kind:
        case Kind.OBJECT:
            return _object(shape, value) if isinstance(value, dict) else value
        case Kind.LIST if isinstance(value, list) and shape.element is not None:
            element = shape.element
            return [rewritten(element, item) for item in value]
        case Kind.MAP if isinstance(value, dict) and shape.element is not None:
            element = shape.element
            return {name: rewritten(element, value[name]) for name in sorted(value)}
        case Kind.QUANTITY if isinstance(value, str | int | float):
            return canonical(value)
        case Kind.TIME | Kind.MICRO_TIME if isinstance(value, str):
            return _moment(shape.kind, value)
        case Kind.BYTES if isinstance(value, str):
            return base64.b64encode(base64.b64decode(value)).decode()
        case _:
            return value


def rewritten_object(
    shape: Type, value: dict[str, Json], live: Mapping[str, Json]
) -> dict[str, Json]:
    """An object as it is written back; what it shares with one that is stored stays as it is."""
    return _object(shape, value, live)


def _object(
    shape: Type, value: Mapping[str, Json], live: Mapping[str, Json] | None = None
) -> dict[str, Json]:
    places, steps, always = _plan(shape)
    desired = {places[name] for name in value if name in places}
    jsons: dict[str, Json] = {}
    for key in sorted(desired | always):
        name, inner, is_pointer, is_omitted, as_given, is_collection, is_said = steps[key]
        content = value.get(name)
        if content is None:
            if not is_omitted:
                jsons[name] = None if is_pointer else _zero(inner)
            continue
        if live is not None and content is live.get(name):
            jsons[name] = content
            continue
        one = content if as_given else rewritten(inner, content)
        if bool(one) if is_collection else is_said or one not in _EMPTY:
            jsons[name] = one
        elif not is_omitted:
            jsons[name] = None
    return jsons


@cache
def _plan(shape: Type) -> tuple[Mapping[str, int], tuple[_Step, ...], frozenset[int]]:
    """Places of the fields of a type, how they are written, and which of them always are."""
    steps = tuple(_step(name, field) for name, field in shape.fields.items())
    places = {step.name: key for key, step in enumerate(steps)}
    return places, steps, frozenset(places[step.name] for step in steps if not step.is_omitted)


def _step(name: str, field: Field) -> _Step:
    kind = field.type.kind
    return _Step(
        name,
        field.type,
        field.pointer,
        field.omitted,
        kind in _AS_GIVEN,
        kind in _COLLECTIONS,
        field.pointer or not field.omitted or kind is Kind.ANY,
    )


def _zero(shape: Type) -> Json:
    if shape.kind is Kind.OBJECT:
        return _object(shape, {})
    return _ZEROS.get(shape.kind)


@lru_cache(maxsize=1024)
def _moment(kind: Kind, text: str) -> str:
    moment = datetime.fromisoformat(text.replace(",", ".")).astimezone(UTC)
    form = "%Y-%m-%dT%H:%M:%SZ" if kind is Kind.TIME else "%Y-%m-%dT%H:%M:%S.%fZ"
    return moment.strftime(form)
