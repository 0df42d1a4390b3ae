"""Values that do not fit the types of built-in kinds."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Iterator
from itertools import islice

from stockman_lab.kube.schema.quantity import NOT_A_QUANTITY, is_quantity
from stockman_lab.kube.schema.type import Json, Kind, Type

_BOUNDS = {"int32": 1 << 31, "int64": 1 << 63}
_TIME = re.compile(
    r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d"
    r"([.,]\d+)?(Z|[+-]\d\d:\d\d)"
)
_NAMES = {bool: "bool", str: "string", list: "array", dict: "object"}


class _Unfit(Exception):
    """A value does not fit; `path` leads to it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.path: list[str] = []


def decoding_error(expected: Type, value: Json) -> str:
    """Why a value cannot be read as its type, for its first error; empty: it can."""
    try:
        _check(expected, value)
    except _Unfit as error:
        field = ".".join(error.path)
        if not field:
            return f"json: cannot unmarshal {_name(value)} into Go value of type {error.name}"
        if error.name == NOT_A_QUANTITY:
            return NOT_A_QUANTITY
        return f"json: cannot unmarshal value into Go struct field {field} of type {error.name}"
    return ""


def _name(value: Json) -> str:
    return _NAMES.get(type(value), "number")


def _check(expected: Type, value: Json) -> None:
    kind = expected.kind
    if value is None or kind is Kind.ANY:
        return
    if kind is Kind.OBJECT or kind is Kind.MAP:
        if not isinstance(value, dict):
            raise _Unfit(expected.go)
        for name, member in value.items():
            inner = expected.below(name)
            if inner is not None:
                try:
                    _check(inner, member)
                except _Unfit as error:
                    error.path.insert(0, name)
                    raise
    elif kind is Kind.LIST:
        if not isinstance(value, list):
            raise _Unfit(expected.go)
        if expected.element is not None:
            for entry in value:
                _check(expected.element, entry)
    else:
        _check_scalar(expected, value)


def _check_scalar(expected: Type, value: Json) -> None:
    match expected.kind:
        case Kind.STRING:
            fits = isinstance(value, str)
        case Kind.BOOLEAN:
            fits = isinstance(value, bool)
        case Kind.NUMBER:
            fits = isinstance(value, int | float) and not isinstance(value, bool)
        case Kind.INTEGER:
            fits = _is_integer(value, expected.format)
        case Kind.INT_OR_STRING:
            fits = isinstance(value, str) or _is_integer(value, "int32")
        case Kind.QUANTITY:
            if not is_quantity(value):
                raise _Unfit(NOT_A_QUANTITY)
            return
        case Kind.BYTES:
            fits = isinstance(value, str) and _is_base64(value)
        case _:
            fits = isinstance(value, str) and _TIME.fullmatch(value) is not None
    if not fits:
        raise _Unfit(expected.go)


def _is_integer(value: Json, form: str) -> bool:
    bound = _BOUNDS[form]
    return isinstance(value, int) and not isinstance(value, bool) and -bound <= value < bound


def _is_base64(value: str) -> bool:
    try:
        base64.b64decode(value.replace("\r", "").replace("\n", ""), validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


MOST = 100
"""More complaints are not made about one object."""


def complaints(expected: Type, value: Json) -> list[str]:
    """What `fieldValidation` has to say of an object, in the order in which it was written.

    `Strict` refuses it with all of them (`strict_decoding_error`), `Warn` gives one warning each.
    """
    return list(islice(_unknown_fields(expected, value, ""), MOST))


def strict_decoding_error(texts: Iterable[str]) -> str:
    """The refusal of an object with such complaints."""
    return f"strict decoding error: {', '.join(texts)}"


def _unknown_fields(expected: Type, value: Json, path: str) -> Iterator[str]:
    if isinstance(value, dict):
        prefix = f"{path}." if path else ""
        for name, member in value.items():
            inner = expected.below(name)
            if inner is None and not expected.is_open:
                yield f'unknown field "{prefix}{name}"'
            elif inner is not None and isinstance(member, dict | list):
                yield from _unknown_fields(inner, member, prefix + name)
    elif isinstance(value, list):
        element = expected.element if expected.kind is Kind.LIST else None
        for number, entry in enumerate(value):
            if isinstance(entry, dict | list) and element is not None:
                yield from _unknown_fields(element, entry, f"{path}[{number}]")
