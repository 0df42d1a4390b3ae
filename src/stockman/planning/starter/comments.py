"""Comments of rendered files: paragraphs and lists, safe for any text of a server."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from textwrap import wrap

_WIDTH = 96
_ODD = re.compile(r"[^\x20-\x7e]+")


def paragraph(text: str, indent: str = "") -> Iterator[str]:
    """Return the lines of a comment."""
    for line in wrap(_plain(text), _WIDTH - len(indent), break_on_hyphens=False):
        yield f"{indent}# {line}"


def listing(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Return a list of items with a description of each."""
    items = [(_plain(name), _plain(text)) for name, text in rows]
    column = max((len(name) for name, _ in items), default=0) + 2
    for name, text in items:
        lines = wrap(text, _WIDTH - column - 2, break_on_hyphens=False) or [""]
        for number, line in enumerate(lines):
            head = name if number == 0 else ""
            yield f"#   {head:<{column}}{line}".rstrip()


def _plain(text: str) -> str:
    """Return a text as one line of ASCII; names of devices may contain anything."""
    return _ODD.sub(" ", text).strip()
