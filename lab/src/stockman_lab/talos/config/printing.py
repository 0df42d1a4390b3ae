"""A configuration as Talos prints it, and what differs between two."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import TYPE_CHECKING, cast

from stockman.model.errors import StockmanError
from stockman.talos.go_yaml import dump
from stockman.talos.patches.apply import load_documents
from stockman.talos.patches.tree import plain_value

if TYPE_CHECKING:
    from stockman.talos.patches.documents import ConfigDocument

_CONTEXT = 3
_REMEMBERED = 64
_COUNTED = "1.13"
"""The first minor that tells the length of a hunk of one line too."""
MAX_LINES = 75_000


@lru_cache(maxsize=_REMEMBERED)
def printed(text: bytes, minor: str) -> str:
    """All documents in Talos' own form, without comments; the text itself if it cannot be read."""
    source = text.decode(errors="replace")
    try:
        documents = load_documents("config", source, minor)
    except StockmanError:
        return source
    return "---\n".join(document_text(document) for document in documents)


def document_text(document: ConfigDocument) -> str:
    """One document in Talos' own form."""
    return dump(cast("dict[str, object]", plain_value(document.canonical())))


def difference(before: str, after: str, minor: str) -> str:
    """The unified difference of two texts as a minor writes it. Empty: they are the same."""
    if before == after:
        return ""
    old, new = before.splitlines(), after.splitlines()
    if minor >= _COUNTED and len(old) + len(new) > MAX_LINES:
        return f"@@ -1,{len(old)} +1,{len(new)} @@ diff too large to display\n"
    lines = ["--- a", "+++ b"]
    for group in SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(_CONTEXT):
        first, last = group[0], group[-1]
        head = (
            _range(first[1], last[2] - first[1], minor),
            _range(first[3], last[4] - first[3], minor),
        )
        lines.append(f"@@ -{head[0]} +{head[1]} @@")
        lines += _hunk(group, old, new)
    return "\n".join([*lines, ""])


def _range(start: int, length: int, minor: str) -> str:
    first = start + 1
    if minor < _COUNTED:
        return f"{first},{length}" if length > 1 else str(first)
    return f"{first if length else start},{length}"


def _hunk(
    group: Sequence[tuple[str, int, int, int, int]], old: list[str], new: list[str]
) -> list[str]:
    lines = []
    for what, old_start, old_end, new_start, new_end in group:
        if what == "equal":
            lines += [f" {line}" for line in old[old_start:old_end]]
            continue
        lines += [f"-{line}" for line in old[old_start:old_end]]
        lines += [f"+{line}" for line in new[new_start:new_end]]
    return lines
