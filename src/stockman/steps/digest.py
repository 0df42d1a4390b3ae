"""Digests: whether two things are the same, in 64 hex digits."""

from __future__ import annotations

import json
from hashlib import sha256

from stockman.model.record import plain


def canonical(value: object) -> str:
    """A value as JSON in one way only, whatever the order of keys; 5 and 5.0 are the same."""
    return canonical_json(plain(value))


def canonical_json(value: object) -> str:
    """The same of what is JSON already."""
    content = _counted(value)
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _counted(value: object) -> object:
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return {name: _counted(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_counted(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def digest(value: object) -> str:
    """The SHA-256 of a value; records of the same fields have the same."""
    return sha256(canonical(value).encode()).hexdigest()


def json_digest(value: object) -> str:
    """The same of what is JSON already."""
    return sha256(canonical_json(value).encode()).hexdigest()
