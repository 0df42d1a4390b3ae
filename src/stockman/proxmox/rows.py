"""Answers made records: unknown fields are ignored, numbers and texts taken as they come."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from stockman.model.proxmox_values import parse_flag

T = TypeVar("T")
_SEPARATORS = re.compile(r"[,;\s]+")


class UnexpectedAnswer(ValueError):
    """An answer does not have the shape that it always has; the text says where."""


def mapping(value: object) -> Mapping[str, object]:
    """A value that has to be an object."""
    if not isinstance(value, dict):
        raise UnexpectedAnswer(f"an object was expected, and {_type_name(value)} came")
    return value


def row_list(value: object) -> list[Mapping[str, object]]:
    """A value that has to be a list of objects; null is an empty one."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise UnexpectedAnswer(f"a list was expected, and {_type_name(value)} came")
    return [mapping(one) for one in value]


def text(value: object) -> str:
    """A scalar as text; yes and no as `1` and `0`."""
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, str | int | float):
        return str(value)
    raise UnexpectedAnswer(f"a text was expected, and {_type_name(value)} came")


def number(value: object) -> int:
    """A whole number, also one that came as text or with a point."""
    try:
        return int(value) if isinstance(value, int) else _parse_int(value)
    except (ValueError, OverflowError):
        raise UnexpectedAnswer(f"a number was expected, and {_type_name(value)} came") from None


def _parse_int(value: object) -> int:
    told = text(value)
    return int(float(told)) if "." in told or not told.lstrip("-").isdigit() else int(told)


def decimal(value: object) -> float:
    """A number, also one that came as text."""
    try:
        return float(text(value))
    except ValueError:
        raise UnexpectedAnswer(f"a number was expected, and {_type_name(value)} came") from None


def boolean(value: object) -> bool:
    """Yes or no, in any form."""
    try:
        return parse_flag(text(value))
    except UnexpectedAnswer:
        raise
    except ValueError:
        raise UnexpectedAnswer(f"yes or no was expected, and {_type_name(value)} came") from None


def words(value: object) -> tuple[str, ...]:
    """A list, or a text with something between its parts."""
    if isinstance(value, list):
        return tuple(text(one) for one in value)
    return tuple(filter(None, _SEPARATORS.split(text(value))))


def text_map(value: object) -> dict[str, str]:
    """An object of scalars; what is deeper is left out."""
    return {
        key: text(one) for key, one in mapping(value).items() if isinstance(one, str | int | float)
    }


def read_record(
    kind: type[T], row: object, names: Mapping[str, str] | None = None, /, **known: object
) -> T:
    """A row as a record; `names` tells fields that the server calls otherwise.

    `known` are fields that are not taken from the row.
    """
    found = mapping(row)
    values: dict[str, Any] = dict(known)
    for field, convert in _fields(kind):  # type: ignore[arg-type]  # classes can be hashed
        value = None if field in known else _value(found, field, names or {})
        if value is not None:
            try:
                values[field] = convert(value)
            except UnexpectedAnswer as error:
                raise UnexpectedAnswer(f"{field}: {error}") from None
    try:
        return kind(**values)
    except TypeError:
        raise UnexpectedAnswer(f"{', '.join(_missing_fields(kind, values))} is not told") from None


def _value(row: Mapping[str, object], field: str, names: Mapping[str, str]) -> object:
    name = names.get(field)
    if name is not None:
        return row.get(name)
    return row.get(field, row.get(field.replace("_", "-")))


@cache
def _fields(kind: type[Any]) -> tuple[tuple[str, Callable[[object], object]], ...]:
    hints = get_type_hints(kind)
    return tuple((name, _converter(hints[name])) for name in _field_names(kind))


def _field_names(kind: type[Any]) -> tuple[str, ...]:
    return tuple(one.name for one in kind.__record_fields__)


def _missing_fields(kind: type[Any], values: Mapping[str, object]) -> list[str]:
    from dataclasses import MISSING

    return [
        one.name
        for one in kind.__record_fields__
        if one.name not in values and one.default is MISSING and one.default_factory is MISSING
    ]


def _converter(hint: object) -> Callable[[object], object]:
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return _converter(next(one for one in get_args(hint) if one is not type(None)))
    if origin is tuple:
        each = _converter(get_args(hint)[0])
        return lambda value: tuple(each(one) for one in words(value))
    if origin is frozenset:
        return lambda value: frozenset(words(value))
    if origin is dict:
        return text_map
    if origin is Literal:
        return _choice(get_args(hint))
    plain = getattr(hint, "__supertype__", hint)
    return _PLAIN.get(plain, lambda value: value)


_PLAIN: dict[object, Callable[[object], object]] = {
    str: text,
    int: number,
    float: decimal,
    bool: boolean,
}


def _choice(allowed: tuple[str, ...]) -> Callable[[object], object]:
    def chosen(value: object) -> str:
        found = text(value)
        if found not in allowed:
            raise UnexpectedAnswer(f"{found!r} is not one of {', '.join(allowed)}")
        return found

    return chosen


def _type_name(value: object) -> str:
    names = {dict: "an object", list: "a list", type(None): "nothing", str: "a text"}
    return names.get(type(value), "a number")
