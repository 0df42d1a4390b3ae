"""Fields of answers: what has to be there and is not, or is something else, is an odd answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

Row: TypeAlias = Mapping[str, object]


class OddAnswer(ValueError):
    """An answer does not have the shape that it always has; the text says where."""


def part(row: Row, name: str) -> Row:
    """A message or a mapping inside of another."""
    found = row.get(name)
    if not isinstance(found, Mapping):
        raise OddAnswer(f"{name} is not told")
    return found


def parts(row: Row, name: str) -> tuple[Row, ...]:
    """Several messages; none where there is nothing."""
    found = row.get(name)
    if found is None:
        return ()
    if not isinstance(found, list) or not all(isinstance(one, Mapping) for one in found):
        raise OddAnswer(f"{name} is not a list of messages")
    return tuple(found)


def text(row: Row, name: str) -> str:
    """A text that has to be there, with something in it."""
    found = row.get(name)
    if not isinstance(found, str) or not found:
        raise OddAnswer(f"{name} is not told")
    return found


def text_or_none(row: Row, name: str) -> str:
    """A text; empty where there is none."""
    found = row.get(name)
    if found is None:
        return ""
    if isinstance(found, bool) or not isinstance(found, str | int | float):
        raise OddAnswer(f"{name} is not a text")
    return str(found)


def texts(row: Row, name: str) -> tuple[str, ...]:
    """Several texts; none where there is nothing."""
    found = row.get(name)
    if found is None:
        return ()
    if not isinstance(found, list):
        raise OddAnswer(f"{name} is not a list")
    return tuple(str(one) for one in found)


def number(row: Row, name: str) -> int:
    """A whole number; 0 where there is nothing, as on the wire."""
    found = row.get(name, 0)
    if isinstance(found, bool) or not isinstance(found, int):
        raise OddAnswer(f"{name} is not a whole number")
    return found


def seconds(row: Row, name: str) -> float:
    """A moment that has to be there."""
    found = row.get(name)
    if isinstance(found, bool) or not isinstance(found, int | float):
        raise OddAnswer(f"{name} is not told")
    return float(found)


def yes(row: Row, name: str) -> bool:
    """Yes or no; no where there is nothing, as on the wire."""
    found = row.get(name, False)
    if not isinstance(found, bool):
        raise OddAnswer(f"{name} is neither yes nor no")
    return found


def told_yes(row: Row, name: str) -> bool:
    """Yes or no that has to be there."""
    if name not in row:
        raise OddAnswer(f"{name} is not told")
    return yes(row, name)
