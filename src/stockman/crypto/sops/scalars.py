"""Scalar values of SOPS: their types and bytes, and plain YAML scalars of the Go library.

The rules are those of the Go libraries that SOPS uses: its MAC covers values as they parse them,
`0755` as 493 and `1e3` as 1000.
"""

from __future__ import annotations

import json
import math
from typing import NamedTuple

from stockman.model.pattern import pattern


class Timestamp(NamedTuple):
    """A time in RFC 3339 format."""

    text: str


class CommentText(NamedTuple):
    """A comment that is stored as a value."""

    text: str


SopsValue = str | int | float | bool | Timestamp | CommentText | None
"""A value of a tree. Bytes that are not UTF-8 are represented by lone surrogates."""

INT_MIN = -(2**63)
INT_MAX = 2**63 - 1
_UINT_MAX = 2**64 - 1

_NAMED_VALUES: dict[str, SopsValue] = {
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
_TIMESTAMP = pattern(
    r"(?P<year>[0-9]{4})-(?P<month>[0-9]{1,2})-(?P<day>[0-9]{1,2})"
    r"(?:(?P<t>[Tt ])(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{1,2}):(?P<second>[0-9]{1,2})"
    r"(?:[.,](?P<fraction>[0-9]{1,9}))?(?P<zone>Z|[-+][0-9]{2}:[0-9]{2})?)?"
)
_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def resolve_scalar(text: str) -> SopsValue:
    """Return the value of a plain YAML scalar; raises ValueError for integers that SOPS cannot
    store."""
    if text in _NAMED_VALUES:
        return _NAMED_VALUES[text]
    if _NUMBER_LIKE.match(text) is None:
        return text
    if text[0] == ".":
        return _parse_float(text) if _DOTTED.fullmatch(text) else text
    return _parse_timestamp(text) or _parse_number(text)


def _parse_number(text: str) -> SopsValue:
    digits = text.replace("_", "")
    number = _parse_integer(digits)
    if number is not None and INT_MIN <= number <= INT_MAX:
        return number
    if number is not None and digits[0] not in "+-" and number <= _UINT_MAX:
        raise ValueError("a whole number of more than 63 bits")
    if _FLOAT.fullmatch(digits):
        parsed = _parse_float(digits)
        return text if isinstance(parsed, str) else parsed
    return text


def _parse_integer(digits: str) -> int | None:
    match = _INTEGER.fullmatch(digits)
    if match is None or match.lastgroup is None:
        return None
    number = int(match[match.lastgroup], _BASES[match.lastgroup])
    return -number if match["sign"] == "-" else number


def _parse_float(text: str) -> SopsValue:
    number = float(text)
    return text if math.isinf(number) else number


def _parse_timestamp(text: str) -> Timestamp | None:
    match = _TIMESTAMP.fullmatch(text)
    if match is None:
        return None
    separator, zone = match["t"], match["zone"]
    if separator and (zone is None) != (separator == " "):
        return None
    year, month, day = int(match["year"]), int(match["month"]), int(match["day"])
    hour, minute, second = (int(match[unit] or 0) for unit in ("hour", "minute", "second"))
    if not _is_calendar_day(year, month, day) or hour > 23 or minute > 59 or second > 59:
        return None
    fraction = (match["fraction"] or "").rstrip("0")
    return Timestamp(
        f"{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}"
        f"{'.' + fraction if fraction else ''}{_normalize_zone(zone)}"
    )


def _normalize_zone(zone: str | None) -> str:
    return "Z" if zone in (None, "Z", "+00:00", "-00:00") else str(zone)


def _is_calendar_day(year: int, month: int, day: int) -> bool:
    if not 1 <= month <= 12 or not 1 <= day <= _DAYS[month - 1]:
        return False
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return leap or (month, day) != (2, 29)


def value_bytes(value: SopsValue) -> bytes:
    """Return the bytes of a value for MAC and cipher."""
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


def value_type(value: SopsValue) -> str:
    """Return the type name in an encrypted value."""
    for kind, types in _VALUE_TYPES:
        if isinstance(value, types):
            return kind
    raise TypeError("null has no kind")


_VALUE_TYPES: tuple[tuple[str, type], ...] = (
    ("str", str),
    ("bool", bool),
    ("int", int),
    ("float", float),
    ("time", Timestamp),
    ("comment", CommentText),
)


def go_float(number: float) -> str:
    """Format a number with the fewest digits that identify it, without an exponent."""
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "+Inf" if number > 0 else "-Inf"
    from decimal import Decimal

    return format(Decimal(repr(number)), "f").removesuffix(".0")


def values_equal(left: SopsValue, right: SopsValue) -> bool:
    """Return whether two values are equal and have the same type: 1, 1.0 and true differ."""
    if type(left) is not type(right):
        return False
    return left == right or (left is not None and value_bytes(left) == value_bytes(right))


def is_text(value: str) -> bool:
    """Return whether a text is valid UTF-8."""
    return not any("\ud800" <= character <= "\udfff" for character in value)


# Read as something else by YAML 1.1: the Go library quotes these for the sake of other readers.
_OLD_WORDS = frozenset(
    "y Y yes Yes YES on On ON n N no No NO off Off OFF".split()  # noqa: SIM905  # shorter so
)
_BASE_60 = pattern(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?")
_FIRST = "#,[]{}&*!|>'\"%@`"


def go_scalar(text: str) -> str:
    """Format a text on one line: plain where that is safe, otherwise quoted as Go does."""
    if _reads_as_other(text) or not text.isprintable():
        return json.dumps(text, ensure_ascii=False)
    if is_plain(text):
        return text
    return "'" + text.replace("'", "''") + "'"


def is_plain(text: str) -> bool:
    """Return whether a text needs no quotes in block style, apart from its type."""
    return not (
        not text
        or text[0] in _FIRST
        or text != text.strip(" ")
        or text.startswith(("---", "..."))
        or (text[0] in "-?:" and (len(text) == 1 or text[1] == " "))
        or ": " in text
        or text.endswith(":")
        or " #" in text
    )


def _reads_as_other(text: str) -> bool:
    if text in _OLD_WORDS or _BASE_60.fullmatch(text):
        return True
    try:
        return not isinstance(resolve_scalar(text), str)
    except ValueError:
        return True


def needs_quotes(text: str) -> bool:
    """Return whether a YAML reader would read the plain text as something else."""
    return _reads_as_other(text) or not is_plain(text) or not text.isprintable()
