"""Regular expressions that are compiled when the first text meets them.

Compiling costs more than most modules take to load, and a run needs few of all that there are.
"""

from __future__ import annotations

import re
from typing import cast


def pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """A pattern that behaves as if it were compiled already."""
    return cast("re.Pattern[str]", _LazyPattern(text, flags))


class _LazyPattern:
    def __init__(self, text: str, flags: int) -> None:
        self._text = text
        self._flags = flags

    def __getattr__(self, name: str) -> object:
        compiled = re.compile(self._text, self._flags)
        for method in ("match", "fullmatch", "search", "sub", "subn", "split", "finditer"):
            self.__dict__[method] = getattr(compiled, method)
        return getattr(compiled, name)
