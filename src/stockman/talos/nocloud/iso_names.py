"""Names of files on an image: what may be called so, and the short form for old readers."""

from __future__ import annotations

import re
from collections.abc import Iterable

LONGEST = 64
"""Characters that Joliet holds."""
_NAME = re.compile(rf"[A-Za-z0-9._-]{{1,{LONGEST}}}")
_STEM, _SUFFIX = 8, 3


def is_name(name: str) -> bool:
    """Whether a file may be called so."""
    return _NAME.fullmatch(name) is not None and name.strip(".") != ""


def short_names(names: Iterable[str]) -> dict[str, bytes]:
    """Names of level 1 by name: eight characters, a dot, three, each once."""
    taken: set[str] = set()
    found: dict[str, bytes] = {}
    for name in names:
        stem, _, suffix = name.rpartition(".") if "." in name.strip(".") else (name, "", "")
        stem, suffix = _plain(stem), _plain(suffix)[:_SUFFIX]
        short, number = f"{stem[:_STEM]}.{suffix}", 0
        while short in taken:
            mark = str(number)
            short, number = f"{stem[: _STEM - len(mark)]}{mark}.{suffix}", number + 1
        taken.add(short)
        found[name] = f"{short};1".encode("ascii")
    return found


def _plain(text: str) -> str:
    return re.sub(r"[^A-Z0-9_]", "_", text.upper())
