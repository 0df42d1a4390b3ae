"""Values that the rules made sure of."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")


def given(value: T | None) -> T:
    """A value that the rules made sure of."""
    if value is None:
        raise ValueError("a required value is missing although no rule reported it")
    return value
