"""Quantities: `100m`, `1.5Gi`, `2e3`."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache

from stockman_lab.kube.schema.type import Json

NOT_A_QUANTITY = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
)
_FORM = re.compile(
    r"([+-]?)(\d+\.?\d*|\.\d+)(?:([KMGTPE]i)|([numkMGTPE]?)|[eE]([+-]?\d+))", re.ASCII
)
_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_DECIMAL = {-9: "n", -6: "u", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P", 18: "E"}
_POWERS = {suffix: power for power, suffix in _DECIMAL.items()}
_LEAST = Fraction(1, 10**9)
_KEPT = 4096
"""The same few quantities come again and again."""


def is_quantity(value: Json) -> bool:
    """Whether a value can be read as a quantity."""
    if isinstance(value, bool):
        return False
    if isinstance(value, int | float):
        return True
    return isinstance(value, str) and _FORM.fullmatch(value) is not None


@lru_cache(maxsize=_KEPT)
def amount(value: str | int | float) -> Fraction:
    """How much a quantity is."""
    return _read(str(value))[0]


@lru_cache(maxsize=_KEPT)
def canonical(value: str | int | float) -> str:
    """A quantity as servers write it: without a fraction, with the largest unit that has none."""
    return _written(*_read(str(value)))


def added(first: str | int | float, second: str | int | float) -> str:
    """The sum of two quantities, in the units of the first one that is not nought."""
    much, unit = _read(str(first))
    more, other = _read(str(second))
    return _written(much + more, unit if much else other)


def _written(much: Fraction, unit: str) -> str:
    if unit == "binary" and not -1024 < much < 1024:
        return _in_units_of_1024(much)
    power, rest = _largest_power(much)
    if unit == "exponent":
        return f"{rest}e{power}" if power else str(rest)
    return f"{rest}{_DECIMAL[power]}"


def _read(text: str) -> tuple[Fraction, str]:
    match = _FORM.fullmatch(text)
    if match is None:
        raise ValueError(NOT_A_QUANTITY)
    sign, digits, binary, decimal, exponent = match.groups()
    much = Fraction(digits if digits[-1] != "." else digits[:-1])
    if binary:
        much *= 1024 ** _BINARY.index(binary)
    else:
        much *= Fraction(10) ** (int(exponent) if exponent else _POWERS[decimal or ""])
    rounded = -(-much // _LEAST) * _LEAST
    unit = "binary" if binary else "exponent" if exponent else "decimal"
    return (-rounded if sign == "-" else rounded), unit


def _in_units_of_1024(much: Fraction) -> str:
    whole = -(-much.numerator // much.denominator)
    power = 0
    while whole % 1024 == 0 and power + 1 < len(_BINARY):
        whole //= 1024
        power += 1
    return f"{whole}{_BINARY[power]}"


def _largest_power(much: Fraction) -> tuple[int, int]:
    if not much:
        return 0, 0
    whole, power = int(much / _LEAST), -9
    while whole % 1000 == 0 and power < max(_DECIMAL):
        whole //= 1000
        power += 3
    return power, whole
