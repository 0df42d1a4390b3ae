"""Fields of objects: what has to be there and is not, or is something else, is an odd answer."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TypeAlias

Row: TypeAlias = Mapping[str, object]


class UnexpectedAnswer(ValueError):
    """An answer does not have the shape that it always has; the text says where."""


def mapping(row: Row, *names: str) -> Row:
    """A mapping inside of others; an empty one where there is none."""
    for name in names:
        found = row.get(name)
        if found is None:
            return {}
        if not isinstance(found, Mapping):
            raise UnexpectedAnswer(f"{name} is not a mapping")
        row = found
    return row


def mappings(row: Row, name: str) -> tuple[Row, ...]:
    """Several mappings; none where there is nothing."""
    found = row.get(name)
    if found is None:
        return ()
    if not isinstance(found, list) or not all(isinstance(one, Mapping) for one in found):
        raise UnexpectedAnswer(f"{name} is not a list of mappings")
    return tuple(found)


def text(row: Row, name: str) -> str:
    """A text that has to be there, with something in it."""
    found = row.get(name)
    if not isinstance(found, str) or not found:
        raise UnexpectedAnswer(f"{name} is not told")
    return found


def optional_text(row: Row, name: str) -> str:
    """A text; empty where there is none."""
    found = row.get(name)
    if found is None:
        return ""
    if not isinstance(found, str):
        raise UnexpectedAnswer(f"{name} is not a text")
    return found


def text_map(row: Row, name: str) -> dict[str, str]:
    """Texts by name; none where there is nothing."""
    found = mapping(row, name)
    if not all(isinstance(one, str) for one in found.values()):
        raise UnexpectedAnswer(f"{name} does not hold texts alone")
    return {key: str(one) for key, one in found.items()}


def number(row: Row, name: str) -> int:
    """A whole number; 0 where there is nothing, as it is left out then."""
    found = row.get(name)
    if found is None:
        return 0
    if isinstance(found, bool) or not isinstance(found, int):
        raise UnexpectedAnswer(f"{name} is not a whole number")
    return found


def boolean(row: Row, name: str) -> bool:
    """Yes or no; no where there is nothing."""
    found = row.get(name)
    if found is None:
        return False
    if not isinstance(found, bool):
        raise UnexpectedAnswer(f"{name} is neither yes nor no")
    return found


def timestamp(row: Row, name: str) -> datetime | None:
    """A moment; None where there is none."""
    found = optional_text(row, name)
    if not found:
        return None
    try:
        read = datetime.fromisoformat(found.removesuffix("Z") + "+00:00" * found.endswith("Z"))
    except ValueError:
        raise UnexpectedAnswer(f"{name} is not a moment") from None
    return read if read.tzinfo is not None else read.replace(tzinfo=UTC)
