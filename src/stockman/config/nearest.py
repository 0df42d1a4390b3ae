"""Suggestions for misspelled or abbreviated names."""

from __future__ import annotations

from collections.abc import Iterable


def nearest_name(name: str, known: Iterable[str]) -> str | None:
    """Return the known name closest to a misspelled one; None: none is close."""
    from difflib import get_close_matches

    matches = get_close_matches(name, tuple(known), 1, 0.6)
    return matches[0] if matches else None


def closest_match(name: str, known: Iterable[str]) -> str | None:
    """Return the most similar known word, or the only one with this prefix; None otherwise."""
    names = tuple(known)
    begun = [candidate for candidate in names if name and candidate.startswith(name)]
    return nearest_name(name, names) or (begun[0] if len(begun) == 1 else None)
