"""Suggestions for misspelled names."""

from __future__ import annotations

from collections.abc import Iterable


def nearest_name(name: str, known: Iterable[str]) -> str | None:
    """Return the known name closest to a misspelled one; None: none is close."""
    from difflib import get_close_matches

    matches = get_close_matches(name, tuple(known), 1, 0.6)
    return matches[0] if matches else None
