"""The word that somebody who typed another one probably meant."""

from __future__ import annotations

from collections.abc import Iterable


def meant(word: str, known: Iterable[str]) -> str | None:
    """The known word most like the one typed, or the only one that begins so; None otherwise."""
    from stockman.config.nearest import nearest

    words = tuple(known)
    begun = [one for one in words if word and one.startswith(word)]
    return nearest(word, words) or (begun[0] if len(begun) == 1 else None)
