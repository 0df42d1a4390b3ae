"""The known word that was probably meant."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word most like the one given; None where nothing is like it."""
    from difflib import get_close_matches

    words = list(known)
    close = get_close_matches(word, words, n=1, cutoff=0.6)
    if close:
        return close[0]
    begun = [one for one in words if word and one.startswith(word)]
    return begun[0] if len(begun) == 1 else None
