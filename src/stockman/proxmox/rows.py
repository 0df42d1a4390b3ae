"""Parse rows of a reply to records.

Unknown fields are ignored; numbers and booleans may be encoded as text.
"""

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
    """A reply has an unexpected format; the text says where."""


def mapping(value: object) -> Mapping[str, object]:
    """Return a value that must be an object."""
    if not isinstance(value, dict):
        raise UnexpectedAnswer(f"expected an object, got {_type_name(value)}")
    return value


def row_list(value: object) -> list[Mapping[str, object]]:
    """Return a value that must be a list of objects; null is an empty list."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise UnexpectedAnswer(f"expected a list, got {_type_name(value)}")
    return [mapping(item) for item in value]


def text(value: object) -> str:
    """Return a scalar as text; booleans as `1` and `0`."""
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, str | int | float):
        return str(value)
    raise UnexpectedAnswer(f"expected a text, got {_type_name(value)}")


def number(value: object) -> int:
    """Return a whole number, also if it is encoded as text or with a decimal point."""
    try:
        return int(value) if isinstance(value, int) else _parse_int(value)
    except (ValueError, OverflowError):
        raise UnexpectedAnswer(f"expected a number, got {_type_name(value)}") from None


def _parse_int(value: object) -> int:
    number_text = text(value)
    return (
        int(float(number_text))
        if "." in number_text or not number_text.lstrip("-").isdigit()
        else int(number_text)
    )


def decimal(value: object) -> float:
    """Return a number, also if it is encoded as text."""
    try:
        return float(text(value))
    except ValueError:
        raise UnexpectedAnswer(f"expected a number, got {_type_name(value)}") from None


def boolean(value: object) -> bool:
    """Return a boolean in any of its encodings."""
    try:
        return parse_flag(text(value))
    except UnexpectedAnswer:
        raise
    except ValueError:
        raise UnexpectedAnswer(f"expected a boolean, got {_type_name(value)}") from None


def words(value: object) -> tuple[str, ...]:
    """Return the items of a list, or of a text with separators."""
    if isinstance(value, list):
        return tuple(text(item) for item in value)
    return tuple(filter(None, _SEPARATORS.split(text(value))))


def text_map(value: object) -> dict[str, str]:
    """Return an object of scalars as texts; nested values are omitted."""
    return {
        key: text(item)
        for key, item in mapping(value).items()
        if isinstance(item, str | int | float)
    }


def read_record(
    kind: type[T], row: object, names: Mapping[str, str] | None = None, /, **known: object
) -> T:
    """Parse a row to a record.

    `names` maps fields to their names on the server; `known` are values of further fields.
    """
    fields = mapping(row)
    values: dict[str, Any] = dict(known)
    for field, convert in _fields(kind):  # type: ignore[arg-type]  # classes can be hashed
        value = None if field in known else _value(fields, field, names or {})
        if value is not None:
            try:
                values[field] = convert(value)
            except UnexpectedAnswer as error:
                raise UnexpectedAnswer(f"{field}: {error}") from None
    try:
        return kind(**values)
    except TypeError:
        raise UnexpectedAnswer(f"{', '.join(_missing_fields(kind, values))} is missing") from None


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
    return tuple(field.name for field in kind.__record_fields__)


def _missing_fields(kind: type[Any], values: Mapping[str, object]) -> list[str]:
    from dataclasses import MISSING

    return [
        field.name
        for field in kind.__record_fields__
        if field.name not in values
        and field.default is MISSING
        and field.default_factory is MISSING
    ]


def _converter(hint: object) -> Callable[[object], object]:
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return _converter(
            next(argument for argument in get_args(hint) if argument is not type(None))
        )
    if origin is tuple:
        convert = _converter(get_args(hint)[0])
        return lambda value: tuple(convert(argument) for argument in words(value))
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
        chosen = text(value)
        if chosen not in allowed:
            raise UnexpectedAnswer(f"{chosen!r} is not one of {', '.join(allowed)}")
        return chosen

    return chosen


def _type_name(value: object) -> str:
    names = {dict: "an object", list: "a list", type(None): "nothing", str: "a text"}
    return names.get(type(value), "a number")
