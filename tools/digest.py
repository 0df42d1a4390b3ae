"""A short digest of a recipe."""

import hashlib
from dataclasses import MISSING, fields, is_dataclass


def digest(*values: object) -> str:
    """Return the digest of values; fields with their default value do not count.

    So a new field does not rebuild programs that do not use it.
    """
    return hashlib.sha256(repr(_canonical(values)).encode()).hexdigest()[:12]


def _canonical(value: object) -> object:
    if isinstance(value, tuple):
        return tuple(_canonical(item) for item in value)
    if is_dataclass(value) and not isinstance(value, type):
        changed_fields = (
            (field.name, _canonical(content))
            for field in fields(value)
            if (content := getattr(value, field.name)) != field.default or field.default is MISSING
        )
        return (type(value).__name__, *changed_fields)
    return value
