"""Paths to calls."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import unquote_to_bytes

from stockman_lab.pve.schema.operation import Operation

_BLANK = re.compile(r"\s")


class Branch:
    """Where a path can go on: by fixed names, or by one argument."""

    __slots__ = ("argument", "below", "calls", "fixed", "swallows")

    def __init__(self) -> None:
        self.fixed: dict[str, Branch] = {}
        self.argument = ""
        self.below: Branch | None = None
        self.swallows = False
        """Whether the argument takes the rest of the path."""
        self.calls: dict[str, Operation] = {}

    def grown(self, segment: str) -> Branch:
        """The branch behind a segment of a template."""
        if not segment.startswith("{"):
            return self.fixed.setdefault(segment, Branch())
        name = segment[1:-1]
        self.swallows = name.endswith("*")
        self.argument = name.removesuffix("*")
        self.below = self.below or Branch()
        return self.below


def tree(calls: Iterable[tuple[str, Operation]]) -> Branch:
    """The root of all paths; each call comes with the template of its path."""
    root = Branch()
    for template, operation in calls:
        branch = root
        for segment in template.split("/")[1:]:
            branch = branch.grown(segment)
        branch.calls[operation.method] = operation
    return root


def found(root: Branch, path: str) -> tuple[Branch, dict[str, str]] | None:
    """The branch of a decoded path and the arguments in it; empty segments do not count."""
    arguments: dict[str, str] = {}
    branch = root
    segments = [segment for segment in path.split("/") if segment]
    may_have_blanks = _BLANK.search(path) is not None
    for place, segment in enumerate(segments):
        below = branch.fixed.get(segment)
        if below is None:
            below = branch.below
            if below is None:
                return None
            if branch.swallows:
                segment = "/".join(segments[place:])
            if may_have_blanks and _BLANK.search(segment):
                return None
            arguments[branch.argument] = segment
            if branch.swallows:
                return below, arguments
        branch = below
    return branch, arguments


def decoded(path: str) -> str:
    """A path without percent signs; bytes that are no UTF-8 are taken one by one."""
    if "%" not in path:
        return path
    raw = unquote_to_bytes(path)
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")
