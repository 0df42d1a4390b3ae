"""A file as SOPS sees it: branches and leaves, in order, with comments and places in the text.

The classes are written out: generating them takes longer than reading a file of usual size.
"""

from __future__ import annotations

from collections.abc import Iterator

from stockman.crypto.sops.scalars import Value
from stockman.model.origin import Position

METADATA_KEY = "sops"
MAX_DEPTH = 200


class Leaf:
    """One value, and the piece of the text that holds it."""

    __slots__ = ("column", "end", "flow", "start", "value")

    def __init__(
        self, value: Value, start: int, end: int, *, flow: bool = False, column: int = 0
    ) -> None:
        self.value = value
        self.start = start
        self.end = end
        self.flow = flow
        """Whether it stands inside of brackets, where an encrypted value needs quotes."""
        self.column = column
        """Where its key or its dash begins, or rather the mapping or list around it."""


class Note:
    """One comment, without its `#`."""

    __slots__ = ("end", "own_line", "start", "tail", "text")

    def __init__(
        self, text: str, start: int, end: int, *, own_line: bool = True, tail: bool = False
    ) -> None:
        self.text = text
        self.start = start
        self.end = end
        self.own_line = own_line
        self.tail = tail
        """Whether it stood behind the `|` of a text that is replaced, and moves behind that."""


class Entry:
    """One key of a mapping with its value."""

    __slots__ = ("key", "node", "start")

    def __init__(self, key: str, start: int, node: Node) -> None:
        self.key = key
        self.start = start
        self.node = node


class Branch:
    """A mapping."""

    __slots__ = ("column", "end", "flow", "items", "start")

    def __init__(self, start: int, column: int, *, flow: bool = False, end: int = 0) -> None:
        self.start = start
        self.column = column
        self.flow = flow
        self.end = end
        self.items: list[Entry | Note] = []

    def entry(self, key: str) -> Entry | None:
        for item in self.items:
            if isinstance(item, Entry) and item.key == key:
                return item
        return None

    def entries(self) -> Iterator[Entry]:
        return (item for item in self.items if isinstance(item, Entry))


class Items:
    """A list."""

    __slots__ = ("column", "end", "flow", "items", "start")

    def __init__(self, start: int, column: int, *, flow: bool = False, end: int = 0) -> None:
        self.start = start
        self.column = column
        self.flow = flow
        self.end = end
        self.items: list[Node | Note] = []


Node = Leaf | Branch | Items


class Document:
    """One document of a file: its keys, and where it ends."""

    __slots__ = ("end", "root")

    def __init__(self, root: Branch, end: int) -> None:
        self.root = root
        self.end = end


class Sheet:
    """The text of a file and the documents in it."""

    __slots__ = ("documents", "file", "text")

    def __init__(self, file: str, text: str, documents: list[Document]) -> None:
        self.file = file
        self.text = text
        self.documents = documents

    def position(self, index: int) -> Position:
        line = self.text.count("\n", 0, index) + 1
        return Position(self.file, line, index - self.text.rfind("\n", 0, index))


def last_index(node: Node) -> int:
    """Where the text of a node ends, blank lines behind it not included."""
    if isinstance(node, Leaf):
        return node.end
    if node.flow:
        return node.end
    ends = [node.start]
    for item in reversed(node.items):
        if isinstance(item, Note):
            continue
        ends.append(last_index(item.node if isinstance(item, Entry) else item))
        if isinstance(item, Entry):
            ends.append(item.start + 1)
        break
    return max(ends)
