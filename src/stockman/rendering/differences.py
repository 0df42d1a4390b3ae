"""What would change in a file, line by line; of secret files only that they change."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import unified_diff

from stockman.catalog.app import SECRET_MARK
from stockman.rendering.ownership import Action

_HEADER_LINES = 2


def difference(action: Action) -> Iterator[str]:
    """Lines that start with `+`, `-`, `@` or a space."""
    if action.before == action.after:
        return
    # `.sops.yaml` itself holds rules, and no secret.
    if SECRET_MARK in action.path.rpartition("/")[2][1:]:
        yield "@ a secret file: its values are not shown"
        return
    before, after = _lines(action.before), _lines(action.after)
    found = unified_diff(before, after, lineterm="", n=2)
    for number, line in enumerate(found):
        if number >= _HEADER_LINES:
            yield line


def _lines(content: bytes | None) -> list[str]:
    return [] if content is None else content.decode(errors="replace").splitlines()
