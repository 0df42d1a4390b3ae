"""Regular expressions that are compiled on first use.

Compiling is slower than importing most modules, and a command needs only a few of all expressions.
"""

from __future__ import annotations

import re
from typing import cast


def pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern that behaves like a compiled one."""
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
