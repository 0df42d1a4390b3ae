"""What an unquoted YAML text is to Talos' YAML library, which differs from YAML 1.1 and 1.2."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

from stockman.model.pattern import pattern

Resolved = None | bool | int | float | str | datetime

_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_TRUE = frozenset({"true", "True", "TRUE"})
_FALSE = frozenset({"false", "False", "FALSE"})
_YES = frozenset({"y", "Y", "yes", "Yes", "YES", "on", "On", "ON"})
_NO = frozenset({"n", "N", "no", "No", "NO", "off", "Off", "OFF"})
_INFINITE = {
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), float("-inf")),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
}
_FIRST = frozenset("+-.0123456789")
_INTEGER = pattern(r"([-+]?)(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)")
_FLOAT = pattern(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_TIME = pattern(
    r"(\d{4})-(\d{1,2})-(\d{1,2})"
    r"(?:([Tt ])(\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d{1,9}))?(Z|[-+]\d\d:\d\d)?)?"
)
_LONGEST_NUMBER = 300


def resolved(text: str) -> Resolved:
    """The value of an unquoted text."""
    if text in _NULLS:
        return None
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    if text in _INFINITE:
        return _INFINITE[text]
    if text[0] not in _FIRST or len(text) > _LONGEST_NUMBER:
        return text
    return _number(text)


def as_bool(value: Resolved, text: str) -> bool | None:
    """A truth value, also in the words of YAML 1.1; None where it is none."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return True if text in _YES else False if text in _NO else None
    return None


def moment_text(value: datetime) -> str:
    """A moment as Talos prints it."""
    text = value.isoformat()
    if "." in text:
        head, _, rest = text.partition(".")
        text = f"{head}.{rest[:6].rstrip('0')}{rest[6:]}"
    return text.replace("+00:00", "Z") if value.tzinfo == UTC else text


def _number(text: str) -> Resolved:
    moment = _moment(text)
    if moment is not None:
        return moment
    digits = text.replace("_", "")
    whole = _INTEGER.fullmatch(digits)
    if whole is not None:
        value = _integer(whole[2])
        value = -value if whole[1] == "-" else value
        if -(1 << 63) <= value < (1 << 64):
            return value
    return float(digits) if _FLOAT.fullmatch(digits) else text


def _integer(digits: str) -> int:
    if len(digits) > 1 and digits[0] == "0" and digits[1].isdigit():
        return int(digits, 8)
    return int(digits, 0)


def _moment(text: str) -> datetime | None:
    found = _TIME.fullmatch(text)
    if found is None:
        return None
    year, month, day, mark, hour, minute, second, fraction, zone = found.groups()
    if mark is not None and (mark == " ") != (zone is None):
        return None
    try:
        return datetime(
            int(year),
            int(month),
            int(day),
            int(hour or 0),
            int(minute or 0),
            int(second or 0),
            int((fraction or "0").ljust(9, "0")[:6]),
            _zone(zone),
        )
    except ValueError:
        return None


def _zone(text: str | None) -> timezone:
    if text is None or text == "Z":
        return UTC
    offset = timedelta(hours=int(text[1:3]), minutes=int(text[4:6]))
    return timezone(-offset if text[0] == "-" else offset)
