"""Secrets inside of records, wherever they stand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar

from stockman.model.origin import Origin, Traced
from stockman.model.record import LEAVES, fields_of, is_record
from stockman.model.secret import Secret

T = TypeVar("T")
Change = Callable[[Secret, "Origin | None"], Secret]


def secrets_within(value: object, name: str = "") -> Iterator[tuple[str, Secret]]:
    """Every secret in the order of the fields, with the name that the user gave it.

    Where that is not known it has the names of the fields that lead to it. Names need not differ.
    """
    if isinstance(value, Secret):
        yield name, value
    elif type(value) in LEAVES:
        return
    elif is_record(value):
        for one in fields_of(value):
            item = getattr(value, one.name)
            if type(item) not in LEAVES and one.metadata.get("shown", True):
                known = _written(value, one.name) if isinstance(item, Secret) else ""
                yield from secrets_within(item, known or _below(name, one.name))
    elif isinstance(value, dict):
        for key, item in value.items():
            if type(item) not in LEAVES:
                yield from secrets_within(item, _below(name, str(key)))
    elif isinstance(value, list | tuple):
        for number, item in enumerate(value):
            if type(item) not in LEAVES:
                yield from secrets_within(item, f"{name}[{number}]")


def with_secrets(value: T, change: Change, origin: Origin | None = None) -> T:
    """The same with other secrets in it; the same object where they are the same.

    `change` is given every secret, and where it is written as far as that is known.
    """
    found: object = value
    if type(value) in LEAVES:
        return value
    if isinstance(value, Secret):
        found = change(value, origin)
    elif is_record(value):
        found = _changed(value, change)
    elif isinstance(value, tuple) and type(value) is tuple:
        items = tuple(with_secrets(item, change, origin) for item in value)
        found = value if all(map(_is, items, value)) else items
    elif isinstance(value, dict):
        made = {key: with_secrets(item, change, origin) for key, item in value.items()}
        found = value if all(made[key] is item for key, item in value.items()) else made
    return found  # type: ignore[return-value]  # of the type of the value, piece by piece


def _changed(value: object, change: Change) -> object:
    changed: dict[str, object] = {}
    for one in fields_of(value):  # type: ignore[arg-type]  # asked with `is_record`
        old = getattr(value, one.name)
        if type(old) in LEAVES or not one.metadata.get("shown", True):
            continue
        where = value.where(one.name) if isinstance(value, Traced) else None
        new = with_secrets(old, change, where)
        if new is not old:
            changed[one.name] = new
    return replace(value, **changed) if changed else value  # type: ignore[type-var]


def _is(one: object, other: object) -> bool:
    return one is other


def _written(value: object, field: str) -> str:
    origin = value.where(field) if isinstance(value, Traced) else None
    return origin.name if origin is not None else ""


def _below(name: str, key: str) -> str:
    return f"{name}.{key}" if name else key
