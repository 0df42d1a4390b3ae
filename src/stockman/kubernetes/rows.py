"""Read fields of objects; missing or wrong fields raise `UnexpectedAnswer`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TypeAlias

Row: TypeAlias = Mapping[str, object]


class UnexpectedAnswer(ValueError):
    """A reply has an unexpected format; the text says where."""


def mapping(row: Row, *names: str) -> Row:
    """Return a nested mapping; empty if missing."""
    for name in names:
        value = row.get(name)
        if value is None:
            return {}
        if not isinstance(value, Mapping):
            raise UnexpectedAnswer(f"{name} is not a mapping")
        row = value
    return row


def mappings(row: Row, name: str) -> tuple[Row, ...]:
    """Return a list of mappings; empty if missing."""
    value = row.get(name)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(item, Mapping) for item in value):
        raise UnexpectedAnswer(f"{name} is not a list of mappings")
    return tuple(value)


def text(row: Row, name: str) -> str:
    """Return a required, non-empty text."""
    value = row.get(name)
    if not isinstance(value, str) or not value:
        raise UnexpectedAnswer(f"{name} is missing")
    return value


def optional_text(row: Row, name: str) -> str:
    """Return a text; empty if missing."""
    value = row.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise UnexpectedAnswer(f"{name} is not a text")
    return value


def text_map(row: Row, name: str) -> dict[str, str]:
    """Return a mapping of texts; empty if missing."""
    values = mapping(row, name)
    if not all(isinstance(value, str) for value in values.values()):
        raise UnexpectedAnswer(f"{name} is not a mapping of texts")
    return {key: str(value) for key, value in values.items()}


def number(row: Row, name: str) -> int:
    """Return a whole number; 0 if missing, because Kubernetes omits zero."""
    value = row.get(name)
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int):
        raise UnexpectedAnswer(f"{name} is not a whole number")
    return value


def boolean(row: Row, name: str) -> bool:
    """Return a boolean; False if missing."""
    value = row.get(name)
    if value is None:
        return False
    if not isinstance(value, bool):
        raise UnexpectedAnswer(f"{name} is not a boolean")
    return value


def timestamp(row: Row, name: str) -> datetime | None:
    """Return a time; None if missing."""
    value = optional_text(row, name)
    if not value:
        return None
    try:
        parsed = datetime.fromisoformat(value.removesuffix("Z") + "+00:00" * value.endswith("Z"))
    except ValueError:
        raise UnexpectedAnswer(f"{name} is not a time") from None
    return parsed if parsed.tzinfo is not None else parsed.replace(tzinfo=UTC)
