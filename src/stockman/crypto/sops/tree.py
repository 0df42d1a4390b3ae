"""The tree of a file: mappings, lists, values and comments with their positions in the text.

The classes are written by hand: generating them takes longer than reading a typical file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from stockman.crypto.sops.scalars import SopsValue
from stockman.model.origin import Position

METADATA_KEY = "sops"
MAX_DEPTH = 200


class SopsScalar:
    """A value and its position in the text."""

    __slots__ = ("column", "end", "flow", "start", "value")

    def __init__(
        self, value: SopsValue, start: int, end: int, *, flow: bool = False, column: int = 0
    ) -> None:
        self.value = value
        self.start = start
        self.end = end
        self.flow = flow
        """Whether it is inside brackets, where an encrypted value needs quotes."""
        self.column = column
        """Column of its mapping or list."""


class SopsComment:
    """A comment, without its `#`."""

    __slots__ = ("end", "own_line", "start", "tail", "text")

    def __init__(
        self, text: str, start: int, end: int, *, own_line: bool = True, tail: bool = False
    ) -> None:
        self.text = text
        self.start = start
        self.end = end
        self.own_line = own_line
        self.tail = tail
        """Whether it followed the `|` of a replaced text, and moves behind that."""


class SopsEntry:
    """A key of a mapping with its value."""

    __slots__ = ("key", "node", "start")

    def __init__(self, key: str, start: int, node: SopsNode) -> None:
        self.key = key
        self.start = start
        self.node = node


class SopsMapping:
    """A mapping."""

    __slots__ = ("column", "end", "flow", "items", "start")

    def __init__(self, start: int, column: int, *, flow: bool = False, end: int = 0) -> None:
        self.start = start
        self.column = column
        self.flow = flow
        self.end = end
        self.items: list[SopsEntry | SopsComment] = []

    def entry(self, key: str) -> SopsEntry | None:
        """Return the entry of a key; None: there is none."""
        for item in self.items:
            if isinstance(item, SopsEntry) and item.key == key:
                return item
        return None

    def entries(self) -> Iterator[SopsEntry]:
        """Return all entries, without comments."""
        return (item for item in self.items if isinstance(item, SopsEntry))


class SopsSequence:
    """A list."""

    __slots__ = ("column", "end", "flow", "items", "start")

    def __init__(self, start: int, column: int, *, flow: bool = False, end: int = 0) -> None:
        self.start = start
        self.column = column
        self.flow = flow
        self.end = end
        self.items: list[SopsNode | SopsComment] = []


SopsNode = SopsScalar | SopsMapping | SopsSequence


class SopsDocument:
    """One document of a file: its root mapping and its end."""

    __slots__ = ("end", "root")

    def __init__(self, root: SopsMapping, end: int) -> None:
        self.root = root
        self.end = end


class ParsedFile:
    """The text of a file and its documents."""

    __slots__ = ("documents", "file", "text")

    def __init__(self, file: str, text: str, documents: list[SopsDocument]) -> None:
        self.file = file
        self.text = text
        self.documents = documents

    def position(self, index: int) -> Position:
        """Return the line and column of an index."""
        line = self.text.count("\n", 0, index) + 1
        return Position(self.file, line, index - self.text.rfind("\n", 0, index))


def end_index(node: SopsNode) -> int:
    """Return where the text of a node ends, without trailing blank lines."""
    if isinstance(node, SopsScalar):
        return node.end
    if node.flow:
        return node.end
    ends = [node.start]
    for item in reversed(node.items):
        if isinstance(item, SopsComment):
            continue
        ends.append(end_index(item.node if isinstance(item, SopsEntry) else item))
        if isinstance(item, SopsEntry):
            ends.append(item.start + 1)
        break
    return max(ends)


class TextEdit(NamedTuple):
    """Replace the text from `start` to `end`."""

    start: int
    end: int
    text: str


def apply_edits(text: str, edits: Iterable[TextEdit]) -> str:
    """Apply edits, which must not overlap; edits at the same position keep their order."""
    pieces: list[str] = []
    reached = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        if edit.start < reached:
            raise ValueError("two edits overlap")
        pieces += (text[reached : edit.start], edit.text)
        reached = edit.end
    pieces.append(text[reached:])
    return "".join(pieces)
