"""Regular expressions as Go knows them."""

from __future__ import annotations

import re
from functools import cache


def matches(pattern: str, text: str) -> bool:
    """Whether a text has a part that a pattern of Go matches."""
    return _compiled(pattern).search(text) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    # In Go `$` is the end of the text alone, and `\z` its other name.
    spelled = pattern.replace(r"\z", r"\Z")
    spelled = re.sub(r"(\\.|\[(?:\\.|[^\]\\])*\])|\$", _ending, spelled)
    try:
        return re.compile(spelled, re.ASCII)
    except re.error:
        return re.compile("")


def _ending(found: re.Match[str]) -> str:
    return found[1] if found[1] is not None else r"\Z"
