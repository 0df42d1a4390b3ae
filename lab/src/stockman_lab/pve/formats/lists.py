"""Lists in one text: parts between commas, semicolons, blanks or NUL."""

from __future__ import annotations

import re

_SEPARATOR = re.compile(r"[,;\s]+")


def split_list(text: str) -> list[str]:
    """Parts of a list; none is empty, except between NULs."""
    if "\0" in text:
        parts = text.split("\0")
        while parts and not parts[-1]:
            parts.pop()
        return parts
    return [part for part in _SEPARATOR.split(text) if part]
