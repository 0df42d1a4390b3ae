"""One text as Go's YAML library writes it: bare, in quotes, or as a literal block."""

from __future__ import annotations

import math
import re
from datetime import date
from enum import Enum
from functools import cache

from stockman.model.pattern import pattern


class Style(Enum):
    """How a text is written."""

    PLAIN = "plain"
    SINGLE_QUOTED = "single quoted"
    DOUBLE_QUOTED = "double quoted"
    LITERAL = "literal"


_WORDS = (
    frozenset(
        form
        for word in ("true", "false", "null", "y", "yes", "n", "no", "on", "off")
        for form in (word, word.capitalize(), word.upper())
    )
    .union(f"{sign}{word}" for sign in ("", "+", "-") for word in (".inf", ".Inf", ".INF"))
    .union((".nan", ".NaN", ".NAN", "~", "<<", ""))
)
_BASE_60 = pattern(r"[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?")
_POINT_FLOAT = pattern(r"\.[0-9](_?[0-9])*([eE][-+]?[0-9](_?[0-9])*)?")
_INTEGER = pattern(r"[-+]?(0[bB][01]+|0[oO]?[0-7]+|0[xX][0-9a-fA-F]+|[1-9][0-9]*|0)", re.ASCII)
_FLOAT = pattern(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_TIME = pattern(
    r"(?P<year>[0-9]{4})-(?P<month>[0-9]{1,2})-(?P<day>[0-9]{1,2})"
    r"(?P<clock>([Tt ])(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{1,2}):(?P<second>[0-9]{1,2})"
    r"([.,][0-9]+)?(?P<zone>Z|[-+][0-9]{2}:[0-9]{2})?)?"
)
_FIRST = frozenset("#,[]{}&*!|>'\"%@`")
BREAKS = "\n\r\x85\u2028\u2029"
"""Everything that Go takes for the end of a line."""
"""Everything that Go takes for the end of a line."""
_ESCAPES = {
    "\0": "0", "\a": "a", "\b": "b", "\t": "t", "\n": "n", "\v": "v", "\f": "f", "\r": "r",
    "\x1b": "e", '"': '"', "\\": "\\", "\x85": "N", "\xa0": "_", "\u2028": "L", "\u2029": "P",
}  # fmt: skip
_UNPRINTABLE_ASCII = pattern(r"[\x00-\x09\x0b-\x1f\x7f]")
_SPACE_BEFORE_BREAK = pattern(f" [{BREAKS}]")
_SPACE_AFTER_BREAK = pattern(f"[{BREAKS}] ")
_INDICATOR = pattern(rf":(?=[ \t]|\Z)|(?<=[ \t\0{BREAKS}])#")


def _unprintable(text: str) -> re.Pattern[str]:
    return _UNPRINTABLE_ASCII if text.isascii() else _beyond_ascii()


@cache
def _beyond_ascii() -> re.Pattern[str]:
    """Takes milliseconds to compile, and is seldom needed."""
    return re.compile(r"[^\n\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd]")


def style_of(text: str) -> Style:
    """How a text is written in block style, as a key or as a value."""
    if "\n" in text:
        has_ink = len(text.encode()) > 1 and not text.isspace()
        return Style.LITERAL if has_ink and _fits_block(text) else Style.DOUBLE_QUOTED
    if not _stays_text(text):
        return Style.DOUBLE_QUOTED
    if _fits_plain(text):
        return Style.PLAIN
    return Style.SINGLE_QUOTED if _fits_single_quotes(text) else Style.DOUBLE_QUOTED


def single_quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def double_quoted(text: str) -> str:
    # A text that starts with a byte order mark has every character escaped.
    everything = text.startswith("\ufeff")
    return '"' + "".join(_escaped(one, always=everything) for one in text) + '"'


def _escaped(character: str, *, always: bool) -> str:
    is_safe = character not in '"\\' and character not in BREAKS
    if is_safe and not always and _unprintable(character).match(character) is None:
        return character
    known = _ESCAPES.get(character)
    if known is not None:
        return f"\\{known}"
    code = ord(character)
    if code <= 0xFF:
        return f"\\x{code:02X}"
    return f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"


def _stays_text(text: str) -> bool:
    """Whether a reader would take the bare text for a text, by YAML 1.1 and by Go."""
    return not (
        text in _WORDS
        or _BASE_60.fullmatch(text)
        or (_POINT_FLOAT.fullmatch(text) and _is_finite(text))
        or (text[0] in "+-0123456789" and (_is_time(text) or _is_number(text.replace("_", ""))))
    )


def _is_number(text: str) -> bool:
    if _INTEGER.fullmatch(text) is not None and _fits_64_bits(text):
        return True
    return _FLOAT.fullmatch(text) is not None and _is_finite(text)


def _is_finite(text: str) -> bool:
    """What is too large even for a float stays a text."""
    return math.isfinite(float(text))


def _fits_64_bits(text: str) -> bool:
    digits = text.lstrip("+-")
    if digits[0] == "0" and digits[1:].isdigit():
        digits = f"0o{digits[1:]}"
    value = int(digits, 0)
    if text.startswith("-"):
        return value <= 2**63
    return value < 2**63 if text.startswith("+") else value < 2**64


def _is_time(text: str) -> bool:
    found = _TIME.fullmatch(text)
    if found is None:
        return False
    try:
        date(int(found["year"]) or 4, int(found["month"]), int(found["day"]))
    except ValueError:
        return False
    if found["clock"] is None:
        return True
    if (found["zone"] is None) != (found["clock"][0] == " "):
        return False
    zone = found["zone"] or "Z"
    in_zone = zone == "Z" or (int(zone[1:3]) <= 24 and int(zone[4:]) < 60)
    clock = (int(found["hour"]) < 24, int(found["minute"]) < 60, int(found["second"]) < 60)
    return in_zone and all(clock)


def _fits_plain(text: str) -> bool:
    blank_behind = len(text) == 1 or text[1] in " \t"
    return (
        not text.startswith(("---", "..."))
        and text[0] not in _FIRST
        and not (text[0] in "?:-" and blank_behind)
        and not text.startswith(" ")
        and not text.endswith(" ")
        and not any(one in text for one in BREAKS)
        and _INDICATOR.search(text) is None
        and _unprintable(text).search(text) is None
    )


def _fits_single_quotes(text: str) -> bool:
    return (
        _unprintable(text).search(text) is None
        and _SPACE_AFTER_BREAK.search(text) is None
        and _SPACE_BEFORE_BREAK.search(text) is None
    )


def _fits_block(text: str) -> bool:
    return (
        not text.endswith(" ")
        and _SPACE_BEFORE_BREAK.search(text) is None
        and _unprintable(text).search(text.replace("\t", "")) is None
    )
