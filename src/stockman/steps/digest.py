"""Digests of values: SHA-256 of canonical JSON."""

from __future__ import annotations

import json
from hashlib import sha256

from stockman.model.record import to_plain_value


def canonical_text(value: object) -> str:
    """Return a value as canonical JSON: keys are sorted; 5 and 5.0 are equal."""
    return canonical_json_text(to_plain_value(value))


def canonical_json_text(value: object) -> str:
    """Return a JSON value as canonical JSON."""
    content = _normalize_numbers(value)
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _normalize_numbers(value: object) -> object:
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return {name: _normalize_numbers(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_normalize_numbers(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def digest(value: object) -> str:
    """Return the SHA-256 of a value; records with equal fields have equal digests."""
    return sha256(canonical_text(value).encode()).hexdigest()


def json_digest(value: object) -> str:
    """Return the SHA-256 of a JSON value."""
    return sha256(canonical_json_text(value).encode()).hexdigest()
