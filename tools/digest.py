"""A short, stable name for a recipe."""

import hashlib
from dataclasses import MISSING, fields, is_dataclass


def digest(*parts: object) -> str:
    """Equal for equal values; a field that keeps its default does not count.

    So a new kind of instruction does not rebuild the programs that do not use it.
    """
    return hashlib.sha256(repr(_canonical(parts)).encode()).hexdigest()[:12]


def _canonical(value: object) -> object:
    if isinstance(value, tuple):
        return tuple(_canonical(part) for part in value)
    if is_dataclass(value) and not isinstance(value, type):
        told = (
            (field.name, _canonical(given))
            for field in fields(value)
            if (given := getattr(value, field.name)) != field.default or field.default is MISSING
        )
        return (type(value).__name__, *told)
    return value
