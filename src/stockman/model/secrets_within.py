"""Secrets inside of records, wherever they stand."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.model.origin import Traced
from stockman.model.record import fields_of, is_record
from stockman.model.secret import Secret


def secrets_within(value: object, name: str = "") -> Iterator[tuple[str, Secret]]:
    """Every secret in the order of the fields, with the name that the user gave it.

    Where that is not known it has the names of the fields that lead to it. Names need not differ.
    """
    if isinstance(value, Secret):
        yield name, value
    elif isinstance(value, str | int | None):
        return
    elif is_record(value):
        for one in fields_of(value):
            if one.metadata.get("shown", True):
                item = getattr(value, one.name)
                known = _written(value, one.name) if isinstance(item, Secret) else ""
                yield from secrets_within(item, known or _below(name, one.name))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from secrets_within(item, _below(name, str(key)))
    elif isinstance(value, list | tuple):
        for number, item in enumerate(value):
            yield from secrets_within(item, f"{name}[{number}]")


def _written(value: object, field: str) -> str:
    origin = value.where(field) if isinstance(value, Traced) else None
    return origin.name if origin is not None else ""


def _below(name: str, key: str) -> str:
    return f"{name}.{key}" if name else key
