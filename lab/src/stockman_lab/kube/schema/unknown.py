"""Fields that a type does not have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from stockman_lab.kube.schema.type import Json, Kind, Type

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
