"""How Perl reads and writes scalars, as far as the checks of the API show it."""

from __future__ import annotations

import re

_INTEGER = re.compile(r"[+-]?\d+$")
_NUMBER = re.compile(r"[+-]?(\d+\.\d+|\d+\.|\.\d+|\d+)([eE][+-]?\d+)?$")
_ASCII_NUMBER = re.compile(r"[+-]?[0-9]+")
_LARGEST = 2**63 - 1
_MOST_DIGITS = 300
_MOST_BITS = 1000


def text_of(value: object) -> str:
    """A scalar as text: 1.0 is `1`, 1e20 is `1e+20`."""
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return f"{value:.15g}".replace("inf", "Inf").replace("nan", "NaN")
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, int):
        return str(value) if value.bit_length() <= _MOST_BITS else "Inf"
    return "" if value is None else f"{reference(value)}(0x0)"


def reference(value: object) -> str:
    """The name of what is no scalar, "" for a scalar."""
    if isinstance(value, bool):
        return "JSON::PP::Boolean"
    if isinstance(value, list | tuple):
        return "ARRAY"
    return "HASH" if isinstance(value, dict) else ""


def is_true(value: object) -> bool:
    """Whether Perl takes a value for true: the texts "" and "0" are not, every list is."""
    return isinstance(value, list | tuple | dict) or (bool(value) and value != "0")


def is_integer(text: str) -> bool:
    """Whether a text is a whole number."""
    return _INTEGER.match(text) is not None


def is_number(text: str) -> bool:
    """Whether a text is a number."""
    return _NUMBER.match(text) is not None


def integer(text: str) -> int:
    """The whole number that a text means, held to 64 bits; digits of other scripts end it."""
    if not text.isascii():
        leading = _ASCII_NUMBER.match(text)
        text = leading[0] if leading else "0"
    if len(text) > _MOST_DIGITS:
        return -_LARGEST if text.startswith("-") else _LARGEST
    return max(-_LARGEST, min(_LARGEST, int(text)))


def number(text: str) -> float:
    """The number that a text means."""
    return integer(text) if is_integer(text) or not text.isascii() else float(text)
