"""Versions, and which of them a range means."""

from __future__ import annotations

import re
from collections.abc import Iterable

_VERSION = re.compile(r"v?(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?")
_CONSTRAINT = re.compile(r"\s*(=|!=|>=|=>|<=|=<|>|<|~>|~|\^)?\s*v?([0-9xX*][^\s,|]*)")
_HYPHEN = re.compile(r"(\S+)\s+-\s+(\S+)")
_ANY = frozenset({"x", "X", "*"})
Numbers = tuple[int, int, int]
_Key = tuple[Numbers, bool, tuple[tuple[bool, int, str], ...]]


def key_of(text: str) -> _Key | None:
    """What versions are compared by; None: it is no version."""
    found = _VERSION.fullmatch(text)
    if found is None:
        return None
    numbers = (int(found[1]), int(found[2] or 0), int(found[3] or 0))
    return numbers, not found[4], _words(found[4] or "")


def _words(text: str) -> tuple[tuple[bool, int, str], ...]:
    parts = text.split(".") if text else []
    return tuple((not p.isdigit(), int(p) if p.isdigit() else 0, p) for p in parts)


def newest_fitting(versions: Iterable[str], wanted: str) -> str | None:
    """The newest version that fits a range; None: none does; ValueError: it is no range."""
    ranges = [_read(part) for part in wanted.split("||")]
    takes_early = "-" in _HYPHEN.sub("", wanted)
    found = []
    for text in versions:
        key = key_of(text)
        if key is None or (not key[1] and not takes_early):
            continue
        if any(all(low <= key and key < high for low, high in range_) for range_ in ranges):
            found.append((key, text))
    return max(found)[1] if found else None


_TOP: _Key = ((2**63, 0, 0), True, ())
_BOTTOM: _Key = ((0, 0, 0), False, ())


def _read(text: str) -> list[tuple[_Key, _Key]]:
    text = _HYPHEN.sub(r">=\1, <=\2", text.strip())
    places = text.replace(",", " ").strip()
    found = list(_CONSTRAINT.finditer(places))
    if not found or _CONSTRAINT.sub("", places).strip():
        raise ValueError(f"improper constraint: {text}")
    return [_span(one[1] or "", one[2]) for one in found]


def _span(sign: str, text: str) -> tuple[_Key, _Key]:
    bare, dash, early = text.partition("-")
    parts = [part for part in bare.split(".") if part]
    given = [int(part) for part in parts if part not in _ANY]
    numbers: Numbers = (*given, 0, 0, 0)[:3]  # type: ignore[assignment]  # always three of them
    key: _Key = (numbers, not dash, _words(early))
    if not given:
        return _BOTTOM, _TOP
    after = _after(numbers, len(given))
    match sign:
        case ">=" | "=>":
            return key, _TOP
        case ">":
            return (after if len(given) < 3 else _just_above(key)), _TOP
        case "<":
            return _BOTTOM, key
        case "<=" | "=<":
            return _BOTTOM, (after if len(given) < 3 else _just_above(key))
        case "^":
            place = next(
                (i for i, number in enumerate(numbers[: len(given)]) if number), len(given) - 1
            )
            return key, _after(numbers, place + 1)
        case "~" | "~>":
            return key, _after(numbers, min(len(given), 2))
        case "" | "=":
            return key, (after if len(given) < 3 else _just_above(key))
    raise ValueError(f"improper constraint: {sign}{text}")


def _after(numbers: Numbers, parts: int) -> _Key:
    """The first version behind all that begin with some numbers."""
    made = [*numbers[: parts - 1], numbers[parts - 1] + 1, 0, 0, 0][:3]
    return ((made[0], made[1], made[2]), False, ())


def _just_above(key: _Key) -> _Key:
    return (key[0], key[1], (*key[2], (True, 2**63, "")))
