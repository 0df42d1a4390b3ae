"""Write YAML byte for byte like the Go library of Talos and the image factory."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from enum import Enum
from functools import cache, cmp_to_key, lru_cache

from stockman.model.pattern import pattern


class Style(Enum):
    """Style of a scalar."""

    PLAIN = "plain"
    SINGLE_QUOTED = "single quoted"
    DOUBLE_QUOTED = "double quoted"
    LITERAL = "literal"


_RESERVED_WORDS = (
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
    """Compile the pattern on first use: it takes milliseconds and is rarely needed."""
    return re.compile(r"[^\n\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd]")


def style_of(text: str) -> Style:
    """Return the block style of a text, as a key or as a value."""
    if "\n" in text:
        has_ink = len(text.encode()) > 1 and not text.isspace()
        return Style.LITERAL if has_ink and _fits_block(text) else Style.DOUBLE_QUOTED
    if not _stays_text(text):
        return Style.DOUBLE_QUOTED
    if _fits_plain(text):
        return Style.PLAIN
    return Style.SINGLE_QUOTED if _fits_single_quotes(text) else Style.DOUBLE_QUOTED


def single_quote(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def double_quote(text: str) -> str:
    # A text that starts with a byte order mark has every character escaped.
    always = text.startswith("\ufeff")
    return '"' + "".join(_escape(character, always=always) for character in text) + '"'


def _escape(character: str, *, always: bool) -> str:
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
    """Whether YAML 1.1 and Go both read the plain text as a string."""
    return not (
        text in _RESERVED_WORDS
        or _BASE_60.fullmatch(text)
        or (_POINT_FLOAT.fullmatch(text) and _is_finite(text))
        or (text[0] in "+-0123456789" and (_is_time(text) or _is_number(text.replace("_", ""))))
    )


def _is_number(text: str) -> bool:
    if _INTEGER.fullmatch(text) is not None and _fits_64_bits(text):
        return True
    return _FLOAT.fullmatch(text) is not None and _is_finite(text)


def _is_finite(text: str) -> bool:
    """Numbers too large for a float stay strings."""
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
    match = _TIME.fullmatch(text)
    if match is None:
        return False
    try:
        date(int(match["year"]) or 4, int(match["month"]), int(match["day"]))
    except ValueError:
        return False
    if match["clock"] is None:
        return True
    if (match["zone"] is None) != (match["clock"][0] == " "):
        return False
    zone = match["zone"] or "Z"
    in_zone = zone == "Z" or (int(zone[1:3]) <= 24 and int(zone[4:]) < 60)
    clock = (int(match["hour"]) < 24, int(match["minute"]) < 60, int(match["second"]) < 60)
    return in_zone and all(clock)


def _fits_plain(text: str) -> bool:
    blank_follows = len(text) == 1 or text[1] in " \t"
    return (
        not text.startswith(("---", "..."))
        and text[0] not in _FIRST
        and not (text[0] in "?:-" and blank_follows)
        and not text.startswith(" ")
        and not text.endswith(" ")
        and not any(line_break in text for line_break in BREAKS)
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


_INDENT = 4
_DASH_WIDTH = 2
_LONGEST_KEY = 128
"""In bytes; Go writes longer keys as complex keys."""


_EXPONENT_FROM = 6
_OTHER_BREAKS = "\u2028\u2029"


class UnsupportedYamlValue(ValueError):
    """A value that Go would write in an unsupported form; the text says which."""


def dump(value: Mapping[str, object]) -> str:
    """Return a mapping as YAML text with a final newline; keys keep their order."""
    if not value:
        return "{}\n"
    return "\n".join(_mapping(value, 0)) + "\n"


def sort_free_form(value: object) -> object:
    """Return a free-form value with all keys in the order of Go maps."""
    if isinstance(value, dict):
        return {key: sort_free_form(value[key]) for key in sort_keys(value)}
    if isinstance(value, list | tuple):
        return [sort_free_form(item) for item in value]
    return value


def sort_keys(keys: Iterable[str]) -> list[str]:
    """Sort keys in the order of Go maps."""
    return sorted(keys, key=cmp_to_key(_compare_keys))


def _mapping(mapping: Mapping[str, object], indent: int) -> Iterator[str]:
    below = _INDENT * ((indent + _INDENT) // _INDENT)
    for key, value in mapping.items():
        start = f"{' ' * indent}{_key(key)}:"
        if not value or isinstance(value, str):
            yield from _leaf(start, value, below)
        elif isinstance(value, Mapping):
            yield start
            yield from _mapping(value, below)
        elif isinstance(value, list | tuple):
            yield start
            yield from _sequence(value, below)
        else:
            yield from _leaf(start, value, below)


def _sequence(items: list[object] | tuple[object, ...], indent: int) -> Iterator[str]:
    below = indent + _DASH_WIDTH
    dash = f"{' ' * indent}-"
    for item in items:
        if isinstance(item, Mapping) and item:
            lines = _mapping(item, below)
            yield f"{dash} {next(lines).lstrip(' ')}"
            yield from lines
        elif isinstance(item, list | tuple) and item:
            lines = _sequence(item, below)
            yield f"{dash} {next(lines).lstrip(' ')}"
            yield from lines
        else:
            yield from _leaf(dash, item, below)


def _leaf(start: str, value: object, indent: int) -> Iterator[str]:
    if isinstance(value, str) and _style(value) is Style.LITERAL:
        header, lines = _literal(value)
        yield f"{start} {header}"
        yield from (f"{' ' * indent}{line}" if line else "" for line in lines)
    else:
        yield f"{start} {_simple(value)}"


def _literal(text: str) -> tuple[str, list[str]]:
    hint = str(_INDENT) if text.startswith(" ") else ""
    if not text.endswith("\n"):
        return f"|{hint}-", text.split("\n")
    keeps_all = text.endswith("\n\n")
    return f"|{hint}{'+' if keeps_all else ''}", text.removesuffix("\n").split("\n")


@lru_cache(maxsize=4096)
def _key(text: str) -> str:
    if any(line_break in text for line_break in BREAKS) or len(text.encode()) > _LONGEST_KEY:
        raise UnsupportedYamlValue(
            f"a key has several lines or more than {_LONGEST_KEY} characters"
        )
    return _text(text)


def _simple(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return _float(value)
        case str():
            return _text(value)
    if isinstance(value, Mapping):
        return "{}"
    if isinstance(value, list | tuple):
        return "[]"
    raise UnsupportedYamlValue(f"{type(value).__name__} cannot be written as YAML")


def _text(text: str) -> str:
    match _style(text):
        case Style.PLAIN:
            return text
        case Style.SINGLE_QUOTED:
            return single_quote(text)
        case _:
            return double_quote(text)


@lru_cache(maxsize=4096)
def _style(text: str) -> Style:
    if any(line_break in text for line_break in _OTHER_BREAKS):
        raise UnsupportedYamlValue("a text contains an unusual line separator")
    return style_of(text)


def _float(value: float) -> str:
    """Return the shortest digits, with an exponent below 1e-4 and from 1e+6 on."""
    if math.isnan(value):
        return ".nan"
    if math.isinf(value):
        return ".inf" if value > 0 else "-.inf"
    sign = "-" if math.copysign(1.0, value) < 0 else ""
    digits, _, power = f"{abs(value)!r}".partition("e")
    integer, _, fraction = digits.partition(".")
    fraction = "" if fraction == "0" else fraction
    exponent = int(power or "0") + len(integer) - 1
    figures = (integer + fraction).lstrip("0")
    if integer == "0" and figures:
        exponent = int(power or "0") - (len(fraction) - len(figures)) - 1
    figures = figures.rstrip("0") or "0"
    if -4 <= exponent < _EXPONENT_FROM:
        return sign + _positional_notation(figures, exponent)
    point = f"{figures[0]}.{figures[1:]}" if len(figures) > 1 else figures
    return f"{sign}{point}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"


def _positional_notation(figures: str, exponent: int) -> str:
    if figures == "0":
        return "0"
    if exponent < 0:
        return f"0.{'0' * (-exponent - 1)}{figures}"
    if len(figures) <= exponent + 1:
        return figures + "0" * (exponent + 1 - len(figures))
    return f"{figures[: exponent + 1]}.{figures[exponent + 1 :]}"


def _compare_keys(first: str, second: str) -> int:
    """Compare two keys like Go; digits in keys compare as numbers."""
    digits = False
    for index, (left, right) in enumerate(zip(first, second, strict=False)):
        if left == right:
            digits = left.isdigit()
            continue
        if left.isalpha() and right.isalpha():
            return -1 if left < right else 1
        if left.isalpha() or right.isalpha():
            return -1 if left.isalpha() == digits else 1
        return _compare_numbers(first, second, index)
    return len(first) - len(second)


def _compare_numbers(first: str, second: str, index: int) -> int:
    start = 0
    if "0" in (first[index], second[index]):
        before = first[:index]
        start = int(bool(before[len(before.rstrip("0123456789")) :].strip("0")))
    left, left_end = _number(first, index, start)
    right, right_end = _number(second, index, start)
    if left != right:
        return left - right
    if left_end != right_end:
        return left_end - right_end
    return -1 if first[index] < second[index] else 1


def _number(text: str, index: int, start: int) -> tuple[int, int]:
    end = index
    while end < len(text) and text[end].isdigit():
        start = start * 10 + int(text[end])
        end += 1
    # Go counts in 64 bits and wraps around.
    return (start + 2**63) % 2**64 - 2**63, end
