"""YAML as the Go library of Talos and of the Image Factory writes it, byte for byte.

The id of a schematic is the hash of such a text, and `talosctl` writes its own files this way.
Everything else that stockman writes comes from the one writer of `stockman.config`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from functools import cmp_to_key, lru_cache

from stockman.talos.go_yaml_text import BREAKS, Style, double_quoted, single_quoted, style_of

_INDENT = 4
_BEHIND_DASH = 2
_LONGEST_KEY = 128
"""In bytes; Go gives longer keys a form of their own."""


_EXPONENT_FROM = 6
_OTHER_BREAKS = "\u2028\u2029"


class NotWritable(ValueError):
    """A value that Go would write in a form of its own, which nobody needs; says which."""


def dump(value: Mapping[str, object]) -> str:
    """A mapping as YAML text that ends with a newline; keys stay in the order given."""
    if not value:
        return "{}\n"
    return "\n".join(_mapping(value, 0)) + "\n"


def in_order(value: object) -> object:
    """A free-form value with all its keys in the order that Go gives to those of a map."""
    if isinstance(value, dict):
        return {key: in_order(value[key]) for key in sorted_keys(value)}
    if isinstance(value, list | tuple):
        return [in_order(item) for item in value]
    return value


def sorted_keys(keys: Iterable[str]) -> list[str]:
    """Keys in the order that Go gives to those of a map."""
    return sorted(keys, key=cmp_to_key(_compared))


def _mapping(mapping: Mapping[str, object], indent: int) -> Iterator[str]:
    below = _INDENT * ((indent + _INDENT) // _INDENT)
    for key, value in mapping.items():
        start = f"{' ' * indent}{_key(key)}:"
        if isinstance(value, Mapping) and value:
            yield start
            yield from _mapping(value, below)
        elif isinstance(value, list | tuple) and value:
            yield start
            yield from _sequence(value, below)
        else:
            yield from _leaf(start, value, below)


def _sequence(items: list[object] | tuple[object, ...], indent: int) -> Iterator[str]:
    below = indent + _BEHIND_DASH
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


def _key(text: str) -> str:
    if any(one in text for one in BREAKS) or len(text.encode()) > _LONGEST_KEY:
        raise NotWritable(f"a key has several lines or more than {_LONGEST_KEY} characters")
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
    raise NotWritable(f"{type(value).__name__} has no place in YAML")


def _text(text: str) -> str:
    match _style(text):
        case Style.PLAIN:
            return text
        case Style.SINGLE_QUOTED:
            return single_quoted(text)
        case _:
            return double_quoted(text)


@lru_cache(maxsize=4096)
def _style(text: str) -> Style:
    if any(one in text for one in _OTHER_BREAKS):
        raise NotWritable("a text holds a line separator other than the usual one")
    return style_of(text)


def _float(value: float) -> str:
    """The shortest digits, with an exponent below 1e-4 and from 1e+6 on."""
    if math.isnan(value):
        return ".nan"
    if math.isinf(value):
        return ".inf" if value > 0 else "-.inf"
    sign = "-" if math.copysign(1.0, value) < 0 else ""
    digits, _, power = f"{abs(value)!r}".partition("e")
    whole, _, fraction = digits.partition(".")
    fraction = "" if fraction == "0" else fraction
    exponent = int(power or "0") + len(whole) - 1
    figures = (whole + fraction).lstrip("0")
    if whole == "0" and figures:
        exponent = int(power or "0") - (len(fraction) - len(figures)) - 1
    figures = figures.rstrip("0") or "0"
    if -4 <= exponent < _EXPONENT_FROM:
        return sign + _positional(figures, exponent)
    point = f"{figures[0]}.{figures[1:]}" if len(figures) > 1 else figures
    return f"{sign}{point}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"


def _positional(figures: str, exponent: int) -> str:
    if figures == "0":
        return "0"
    if exponent < 0:
        return f"0.{'0' * (-exponent - 1)}{figures}"
    if len(figures) <= exponent + 1:
        return figures + "0" * (exponent + 1 - len(figures))
    return f"{figures[: exponent + 1]}.{figures[exponent + 1 :]}"


def _compared(one: str, other: str) -> int:
    """Less than zero: the first stands before the second. Numbers inside of keys count as such."""
    digits = False
    for place, (left, right) in enumerate(zip(one, other, strict=False)):
        if left == right:
            digits = left.isdigit()
            continue
        if left.isalpha() and right.isalpha():
            return -1 if left < right else 1
        if left.isalpha() or right.isalpha():
            return -1 if left.isalpha() == digits else 1
        return _compared_numbers(one, other, place)
    return len(one) - len(other)


def _compared_numbers(one: str, other: str, place: int) -> int:
    start = 0
    if "0" in (one[place], other[place]):
        before = one[:place]
        start = int(bool(before[len(before.rstrip("0123456789")) :].strip("0")))
    left, left_end = _number(one, place, start)
    right, right_end = _number(other, place, start)
    if left != right:
        return left - right
    if left_end != right_end:
        return left_end - right_end
    return -1 if one[place] < other[place] else 1


def _number(text: str, place: int, start: int) -> tuple[int, int]:
    end = place
    while end < len(text) and text[end].isdigit():
        start = start * 10 + int(text[end])
        end += 1
    # Go counts in 64 bits and goes on below zero when they overflow.
    return (start + 2**63) % 2**64 - 2**63, end
