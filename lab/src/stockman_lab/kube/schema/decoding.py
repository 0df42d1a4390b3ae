"""Values that do not fit the types of built-in kinds, as Go's decoder tells of them."""

from __future__ import annotations

import base64
import binascii
import re
from typing import NamedTuple

from stockman_lab.kube.schema.quantity import NOT_A_QUANTITY, is_quantity
from stockman_lab.kube.schema.type import Json, Kind, Type

_BOUNDS = {"int32": 1 << 31, "int64": 1 << 63}
_TIME = re.compile(
    r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d"
    r"(?P<fraction>[.,]\d+)?(?P<zone>Z|[+-]\d\d:\d\d)"
)
_MICROSECONDS = re.compile(r"\.\d{6}")
_LAYOUTS = {
    Kind.TIME: "2006-01-02T15:04:05Z07:00",
    Kind.MICRO_TIME: "2006-01-02T15:04:05.000000Z07:00",
}


class _Place(NamedTuple):
    struct: str
    path: str


_NOWHERE = _Place("", "")


def decoding_error(made: Type, value: Json) -> str:
    """Why an object cannot be read as its type; empty: it can. The first mistake alone counts."""
    if _fits(made, value):
        return ""
    return _wrong(made, value, _Place("", "")) or ""


def _fits(made: Type, value: Json) -> bool:
    """Whether nothing is wrong; where it is not asked what is, nobody has to know where."""
    kind = made.kind
    if value is None or kind is Kind.ANY:
        return True
    if kind is Kind.STRING:
        return isinstance(value, str)
    if kind is Kind.OBJECT:
        if not isinstance(value, dict):
            return False
        fields = made.fields
        for name, one in value.items():
            field = fields.get(name)
            if field is not None and not _fits(field.type, one):
                return False
        return True
    element = made.element
    if kind is Kind.LIST:
        return isinstance(value, list) and (
            element is None or all(_fits(element, one) for one in value)
        )
    if kind is Kind.MAP:
        return isinstance(value, dict) and (
            element is None or all(_fits(element, one) for one in value.values())
        )
    return _wrong_scalar(made, value, _NOWHERE) is None


def _wrong(made: Type, value: Json, place: _Place) -> str | None:
    if value is None or made.kind is Kind.ANY:
        return None
    if made.kind is Kind.OBJECT:
        return _wrong_object(made, value, place)
    if made.kind is Kind.MAP:
        return _wrong_map(made, value, place)
    if made.kind is Kind.LIST:
        return _wrong_list(made, value, place)
    return _wrong_scalar(made, value, place)


def _wrong_object(made: Type, value: Json, place: _Place) -> str | None:
    if not isinstance(value, dict):
        return _unfit(value, place, made.go)
    struct = made.go.rpartition(".")[2]
    for name, one in value.items():
        field = made.fields.get(name)
        if field is None:
            continue
        steps = (place.path, field.inlined, name)
        below = _Place(struct, ".".join(step for step in steps if step))
        wrong = _wrong(field.type, one, below)
        if wrong is not None:
            return wrong
    return None


def _wrong_map(made: Type, value: Json, place: _Place) -> str | None:
    if not isinstance(value, dict):
        return _unfit(value, place, made.go)
    for one in value.values():
        wrong = None if made.element is None else _wrong(made.element, one, place)
        if wrong is not None:
            return wrong
    return None


def _wrong_list(made: Type, value: Json, place: _Place) -> str | None:
    if not isinstance(value, list):
        return _unfit(value, place, made.go)
    for one in value:
        wrong = None if made.element is None else _wrong(made.element, one, place)
        if wrong is not None:
            return wrong
    return None


def _wrong_scalar(made: Type, value: Json, place: _Place) -> str | None:
    match made.kind:
        case Kind.STRING:
            return None if isinstance(value, str) else _unfit(value, place, made.go)
        case Kind.BOOLEAN:
            return None if isinstance(value, bool) else _unfit(value, place, made.go)
        case Kind.INTEGER:
            return _wrong_integer(value, place, made.go, made.format)
        case Kind.NUMBER:
            return None if _is_number(value) else _unfit(value, place, made.go)
        case Kind.INT_OR_STRING:
            if isinstance(value, str):
                return None
            return _wrong_integer(value, place, "int32", "int32")
        case Kind.QUANTITY:
            return None if is_quantity(value) else NOT_A_QUANTITY
        case Kind.BYTES:
            return _wrong_bytes(value) if isinstance(value, str) else _unfit(value, place, made.go)
        case _:
            return _wrong_time(made.kind, value, place)


def _wrong_integer(value: Json, place: _Place, go: str, form: str) -> str | None:
    if not _is_number(value):
        return _unfit(value, place, go)
    bound = _BOUNDS[form]
    if isinstance(value, int) and -bound <= value < bound:
        return None
    return _unfit(value, place, go, f" {value}")


def _wrong_bytes(value: str) -> str | None:
    try:
        base64.b64decode(value.replace("\r", "").replace("\n", ""), validate=True)
    except (binascii.Error, ValueError):
        return f"illegal base64 data at input byte {_illegal_byte(value)}"
    return None


def _illegal_byte(value: str) -> int:
    """Where Go's decoder gives up: at a wrong sign, or where the last group begins or ends."""
    found = re.match(r"[A-Za-z0-9+/\r\n]*", value)
    end = found.end() if found else 0
    signs = len(value[:end].replace("\r", "").replace("\n", ""))
    if end == len(value):
        return signs - signs % 4
    missing = -signs % 4
    if value[end] != "=" or missing not in (1, 2):
        return end
    if missing == 1:
        return end + 1
    if end + 1 == len(value):
        return len(value)
    return end + 2 if value[end + 1] == "=" else end


def _wrong_time(kind: Kind, value: Json, place: _Place) -> str | None:
    if not isinstance(value, str):
        return _unfit(value, place, "string")
    layout = _LAYOUTS[kind]
    found = _TIME.fullmatch(value)
    if found is None:
        return f'parsing time "{value}" as "{layout}": cannot parse "{value}" as "2006"'
    fraction = found["fraction"] or ""
    if kind is Kind.MICRO_TIME and not _MICROSECONDS.fullmatch(fraction):
        rest = fraction + found["zone"]
        return f'parsing time "{value}" as "{layout}": cannot parse "{rest}" as ".000000"'
    return None


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _unfit(value: Json, place: _Place, go: str, number: str = "") -> str:
    where = f"Go struct field {place.struct}.{place.path}" if place.path else "Go value"
    return f"json: cannot unmarshal {_said(value)}{number} into {where} of type {go}"


def _said(value: Json) -> str:
    match value:
        case bool():
            return "bool"
        case str():
            return "string"
        case list():
            return "array"
        case dict():
            return "object"
        case _:
            return "number"
