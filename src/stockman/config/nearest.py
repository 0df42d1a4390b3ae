"""Suggestions for misspelled or abbreviated names."""

from __future__ import annotations

from collections.abc import Iterable


def nearest_name(name: str, known: Iterable[str]) -> str | None:
    """Return the known name closest to a misspelled one; None: none is close."""
    from difflib import get_close_matches

    matches = get_close_matches(name, tuple(known), 1, 0.6)
    return matches[0] if matches else None


def nearest_key(name: str, known: Iterable[str]) -> str | None:
    """Return the known key of which a name is a misspelling; None: no key is.

    Words of a key carry its meaning, so a word may differ by a single typing error only, and only
    if it is long enough that no other word of a key is as close.
    """
    keys = tuple(known)
    words = _words(name)
    same = [key for key in keys if "".join(_words(key)) == "".join(words)]
    misspelled = [key for key in keys if _is_misspelling(words, _words(key))]
    matches = same or misspelled
    return matches[0] if len(matches) == 1 else None


def _words(name: str) -> list[str]:
    return name.lower().replace("-", "_").replace(".", "_").split("_")


def _is_misspelling(words: list[str], key: list[str]) -> bool:
    if len(words) != len(key):
        return False
    different = [(a, b) for a, b in zip(words, key, strict=True) if a != b]
    return len(different) == 1 and all(
        max(len(a), len(b)) >= _SHORTEST_WORD and _is_typing_error(a, b) for a, b in different
    )


_SHORTEST_WORD = 4


def _is_typing_error(typed: str, word: str) -> bool:
    """Whether one character was added, left out or replaced, or two neighbors were exchanged."""
    if len(typed) > len(word):
        typed, word = word, typed
    start = next((i for i, (a, b) in enumerate(zip(typed, word, strict=False)) if a != b), None)
    if start is None:
        return len(word) - len(typed) == 1
    if len(typed) < len(word):
        return typed[start:] == word[start + 1 :]
    swapped = word[start + 1 : start + 2] + word[start]
    return typed[start + 1 :] == word[start + 1 :] or typed[start:] == swapped + word[start + 2 :]


def closest_match(name: str, known: Iterable[str]) -> str | None:
    """Return the most similar known word, or the only one with this prefix; None otherwise."""
    names = tuple(known)
    begun = [candidate for candidate in names if name and candidate.startswith(name)]
    return nearest_name(name, names) or (begun[0] if len(begun) == 1 else None)
