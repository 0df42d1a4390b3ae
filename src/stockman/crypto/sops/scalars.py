"""Values as SOPS knows them: their kinds, their bytes, and how plain YAML text becomes one.

The rules are those of the Go libraries that SOPS is built on: its check sum covers the values as
these read them, `0755` as 493 and `1e3` as 1000.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from stockman.model.pattern import pattern


class Timestamp(NamedTuple):
    """A moment, as RFC 3339 writes it."""

    text: str


class Remark(NamedTuple):
    """A comment that is kept as a value."""

    text: str


Value = str | int | float | bool | Timestamp | Remark | None
"""A value of a tree. Bytes that are not UTF-8 are kept in texts as lone surrogates."""

INT_MIN = -(2**63)
INT_MAX = 2**63 - 1
_UINT_MAX = 2**64 - 1

_WORDS: dict[str, Value] = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
}
_NUMBER_LIKE = pattern(r"[-+.0-9]")
_DOTTED = pattern(r"\.[0-9]+(?:[eE][-+]?[0-9]+)?")
_FLOAT = pattern(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_INTEGER = pattern(
    r"(?P<sign>[-+]?)(?:0[xX](?P<hex>[0-9a-fA-F]+)|0[bB](?P<bin>[01]+)|0[oO]?(?P<oct>[0-7]+)"
    r"|(?P<dec>0|[1-9][0-9]*))"
)
_BASES = {"hex": 16, "bin": 2, "oct": 8, "dec": 10}
_MOMENT = pattern(
    r"(?P<year>[0-9]{4})-(?P<month>[0-9]{1,2})-(?P<day>[0-9]{1,2})"
    r"(?:(?P<t>[Tt ])(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{1,2}):(?P<second>[0-9]{1,2})"
    r"(?:[.,](?P<fraction>[0-9]{1,9}))?(?P<zone>Z|[-+][0-9]{2}:[0-9]{2})?)?"
)
_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def resolved(text: str) -> Value:
    """The value of a plain YAML scalar; ValueError: a whole number that SOPS cannot hold."""
    if text in _WORDS:
        return _WORDS[text]
    if _NUMBER_LIKE.match(text) is None:
        return text
    if text[0] == ".":
        return _finite(text) if _DOTTED.fullmatch(text) else text
    return _timestamp(text) or _number(text)


def _number(text: str) -> Value:
    digits = text.replace("_", "")
    number = _integer(digits)
    if number is not None and INT_MIN <= number <= INT_MAX:
        return number
    if number is not None and digits[0] not in "+-" and number <= _UINT_MAX:
        raise ValueError("a whole number of more than 63 bits")
    if _FLOAT.fullmatch(digits):
        found = _finite(digits)
        return text if isinstance(found, str) else found
    return text


def _integer(digits: str) -> int | None:
    match = _INTEGER.fullmatch(digits)
    if match is None or match.lastgroup is None:
        return None
    number = int(match[match.lastgroup], _BASES[match.lastgroup])
    return -number if match["sign"] == "-" else number


def _finite(text: str) -> Value:
    number = float(text)
    return text if math.isinf(number) else number


def _timestamp(text: str) -> Timestamp | None:
    match = _MOMENT.fullmatch(text)
    if match is None:
        return None
    separator, zone = match["t"], match["zone"]
    if separator and (zone is None) != (separator == " "):
        return None
    year, month, day = int(match["year"]), int(match["month"]), int(match["day"])
    hour, minute, second = (int(match[part] or 0) for part in ("hour", "minute", "second"))
    if not _exists(year, month, day) or hour > 23 or minute > 59 or second > 59:
        return None
    fraction = (match["fraction"] or "").rstrip("0")
    return Timestamp(
        f"{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}"
        f"{'.' + fraction if fraction else ''}{_zone(zone)}"
    )


def _zone(zone: str | None) -> str:
    return "Z" if zone in (None, "Z", "+00:00", "-00:00") else str(zone)


def _exists(year: int, month: int, day: int) -> bool:
    if not 1 <= month <= 12 or not 1 <= day <= _DAYS[month - 1]:
        return False
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return leap or (month, day) != (2, 29)


def value_bytes(value: Value) -> bytes:
    """What the check sum and the cipher see of a value."""
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape")
    if isinstance(value, bool):
        return b"True" if value else b"False"
    if isinstance(value, int):
        return str(value).encode("ascii")
    if isinstance(value, float):
        return go_float(value).encode("ascii")
    if value is None:
        raise TypeError("null has no bytes")
    return value.text.encode("utf-8", "surrogateescape")


def kind_of(value: Value) -> str:
    """The word behind `type:` in an encrypted value."""
    for kind, types in _KINDS:
        if isinstance(value, types):
            return kind
    raise TypeError("null has no kind")


_KINDS: tuple[tuple[str, type], ...] = (
    ("str", str),
    ("bool", bool),
    ("int", int),
    ("float", float),
    ("time", Timestamp),
    ("comment", Remark),
)


def go_float(number: float) -> str:
    """A number with the fewest digits that tell it apart, never with an exponent."""
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "+Inf" if number > 0 else "-Inf"
    from decimal import Decimal

    return format(Decimal(repr(number)), "f").removesuffix(".0")


def same(one: Value, other: Value) -> bool:
    """Whether two values are equal and of one kind: 1, 1.0 and true are not."""
    if type(one) is not type(other):
        return False
    return one == other or (one is not None and value_bytes(one) == value_bytes(other))


def is_text(value: str) -> bool:
    """Whether a text is UTF-8, and not other bytes."""
    return not any("\ud800" <= character <= "\udfff" for character in value)
