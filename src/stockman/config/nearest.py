"""The known name nearest to what was written."""

from __future__ import annotations

from collections.abc import Iterable


def nearest_name(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` was probably meant to be; None where nothing is near."""
    from difflib import get_close_matches

    matches = get_close_matches(name, tuple(known), 1, 0.6)
    return matches[0] if matches else None
