"""A file as SOPS sees it: branches and leaves, in order, with comments and places in the text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from stockman.crypto.sops.scalars import Value
from stockman.model.origin import Position

METADATA_KEY = "sops"
MAX_DEPTH = 200


@dataclass(slots=True)
class Leaf:
    """One value, and the piece of the text that holds it."""

    value: Value
    start: int
    end: int
    flow: bool = False
    """Whether it stands inside of brackets, where an encrypted value needs quotes."""
    column: int = 0
    """Where its key or its dash begins, or rather the mapping or list around it."""


@dataclass(slots=True)
class Note:
    """One comment, without its `#`."""

    text: str
    start: int
    end: int
    own_line: bool = True
    tail: bool = False
    """Whether it stood behind the `|` of a text that is replaced, and moves behind that."""


@dataclass(slots=True)
class Entry:
    """One key of a mapping with its value."""

    key: str
    start: int
    node: Node


@dataclass(slots=True)
class Branch:
    """A mapping."""

    start: int
    column: int
    flow: bool = False
    end: int = 0
    items: list[Entry | Note] = field(default_factory=list)

    def entry(self, key: str) -> Entry | None:
        for item in self.items:
            if isinstance(item, Entry) and item.key == key:
                return item
        return None

    def entries(self) -> Iterator[Entry]:
        return (item for item in self.items if isinstance(item, Entry))


@dataclass(slots=True)
class Items:
    """A list."""

    start: int
    column: int
    flow: bool = False
    end: int = 0
    items: list[Node | Note] = field(default_factory=list)


Node = Leaf | Branch | Items


@dataclass(slots=True)
class Document:
    """One document of a file: its keys, and where it ends."""

    root: Branch
    end: int


@dataclass(slots=True)
class Sheet:
    """The text of a file and the documents in it."""

    file: str
    text: str
    documents: list[Document]

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
