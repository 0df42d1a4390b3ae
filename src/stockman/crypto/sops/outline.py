"""The outline of a tree: keys, lists and comments in order, without the values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stockman.crypto.sops.scalars import Remark, Value
from stockman.crypto.sops.tree import METADATA_KEY, Branch, Document, Items, Leaf, Node, Note
from stockman.crypto.sops.walking import Slot

Token = tuple[str, str]


def outline(documents: Iterable[Document], slots: Iterable[Slot]) -> list[Token]:
    """Equal for two trees that differ in nothing but values and layout."""
    known = {id(slot.node): slot.value for slot in slots}
    tokens: list[Token] = []
    for document in documents:
        tokens.append(("document", ""))
        tokens += _branch(document.root, known, top=True)
    return tokens


def _branch(branch: Branch, known: dict[int, Value], *, top: bool = False) -> Iterator[Token]:
    for item in branch.items:
        if isinstance(item, Note):
            yield _note(item, known)
        elif not (top and item.key == METADATA_KEY):
            yield "key", item.key
            yield from _node(item.node, known)
    yield "end", ""


def _node(node: Node, known: dict[int, Value]) -> Iterator[Token]:
    if isinstance(node, Branch):
        yield "mapping", ""
        yield from _branch(node, known)
    elif isinstance(node, Items):
        yield "list", ""
        for item in node.items:
            if isinstance(item, Note):
                yield _note(item, known)
            else:
                yield from _node(item, known)
        yield "end", ""
    else:
        yield _leaf(node, known)


def _leaf(leaf: Leaf, known: dict[int, Value]) -> Token:
    value = known.get(id(leaf), leaf.value)
    if isinstance(value, Remark):
        return "comment", value.text
    return ("null" if value is None else "value"), ""


def _note(note: Note, known: dict[int, Value]) -> Token:
    value = known.get(id(note))
    return "comment", value.text if isinstance(value, Remark) else note.text
