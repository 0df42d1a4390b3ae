"""Single values in a JSON Schema: every spelling that the reader takes, and no other text."""

from __future__ import annotations

import re
from typing import Any

from stockman.config.kinds import BASES, Value

_CIPHERTEXT = r"ENC\[[A-Z0-9_]+,[\s\S]*\]"
_NUMERALS = ("1", "12", "1.5", "1e5", "1" * 32, "1" * 64)
_RANGE_OF_LETTERS = re.compile(r"([a-z])-([a-z])")


def value_schema(value: Value, *, null: bool) -> dict[str, Any]:
    """The schema of one value; `null` says whether it may be null as well."""
    if value.choices:
        # Apart from the ciphertext, so that editors complete and list the choices.
        choices = [*value.choices, None] if null else list(value.choices)
        ciphertext = {"type": "string", "pattern": whole(_CIPHERTEXT)}
        return {"anyOf": [{"enum": choices}, ciphertext]}
    pattern = _pattern(value)
    types = _types(value, pattern)
    schema: dict[str, Any] = {"type": [*types, "null"] if null else _one_or_many(types)}
    if value.limits is not None:
        schema |= {"minimum": value.limits.low, "maximum": value.limits.high}
    if pattern:
        # One pattern instead of `anyOf`, after which editors cannot say what is wrong.
        schema["pattern"] = whole(f"{pattern}|{_CIPHERTEXT}")
        schema["patternErrorMessage"] = f"This is not {_says(value)}."
    if value.examples:
        schema["examples"] = list(value.examples)
    return schema


def whole(pattern: str) -> str:
    """A pattern for the whole text, as JSON Schema searches."""
    return f"^(?:{pattern})$"


def _pattern(value: Value) -> str:
    if value.shape is None:
        return BASES[value.base].pattern
    if not value.shape.folded:
        return value.shape.pattern
    return _RANGE_OF_LETTERS.sub(lambda found: f"{found[0].upper()}{found[0]}", value.shape.pattern)


def _types(value: Value, pattern: str) -> list[str]:
    """JSON types that a value may have once an editor has read the file."""
    if value.base is int:
        return ["integer", "string"]
    if value.base is bool:
        return ["boolean", "string"]
    types = ["string"]
    if any(re.fullmatch(pattern, text) for text in _NUMERALS) or not pattern:
        types.append("number")
    if re.fullmatch(pattern, "true") or not pattern:
        types.append("boolean")
    return types


def _one_or_many(types: list[str]) -> str | list[str]:
    return types[0] if len(types) == 1 else types


def _says(value: Value) -> str:
    if value.shape is not None:
        return value.shape.says
    words = BASES[value.base].one
    if value.base is bool:
        return words
    return f"{'an' if words[0] in 'aeiouAEIO' else 'a'} {words}"
