"""Every value and comment of a tree in order, and whether it is encrypted."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

from stockman.crypto.sops.scalars import Remark, Value, value_bytes
from stockman.crypto.sops.selectors import Matcher
from stockman.crypto.sops.tree import METADATA_KEY, Branch, Document, Entry, Items, Leaf, Node, Note
from stockman.crypto.sops.values import path_text

# SHA-256 of the word `sops`: a check sum over encrypted values alone is never one over all.
_ONLY_ENCRYPTED = hashlib.sha256(b"sops").digest()


class Slot:
    """A value or comment, the keys above it, and what holds it."""

    __slots__ = ("bound_to", "encrypted", "node", "parent", "value")

    def __init__(
        self,
        node: Leaf | Note,
        bound_to: str,
        *,
        encrypted: bool,
        parent: Branch | Items,
        value: Value = None,
    ) -> None:
        self.node = node
        self.bound_to = bound_to
        self.encrypted = encrypted
        self.parent = parent
        self.value = value
        """What it says in the clear, as far as known."""


def slots(documents: Iterable[Document], matcher: Matcher) -> Iterator[Slot]:
    """All values but null, and all comments, without the `sops` entry."""
    walk = _Walk(matcher)
    for document in documents:
        yield from walk.branch(document.root, (), above=False)


def check_sum(values: Iterable[Slot], *, only_encrypted: bool) -> str:
    """The MAC of a file: SHA-512 over its values in order, comments not included."""
    digest = hashlib.sha512(_ONLY_ENCRYPTED if only_encrypted else b"")
    for slot in values:
        if isinstance(slot.value, Remark) or (only_encrypted and not slot.encrypted):
            continue
        digest.update(value_bytes(slot.value))
    return digest.hexdigest().upper()


class _Walk:
    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher
        self._inverse = matcher.selector.is_inverse
        self._by_comment = matcher.selector.by_comment

    def branch(self, branch: Branch, path: tuple[str, ...], *, above: bool) -> Iterator[Slot]:
        """The slots of a mapping; `above`: something above it matches."""
        bound_to = path_text(path)
        comments = False
        for item in branch.items:
            if isinstance(item, Note):
                yield self._note(item, bound_to, branch, above=above, before=comments)
                comments = comments or self._comment_matches(item)
                continue
            if not path and item.key == METADATA_KEY:
                continue
            matched = above or comments or self._key_matches(item)
            yield from self._node(item.node, (*path, item.key), branch, above=matched)
            comments = False

    def _items(self, items: Items, path: tuple[str, ...], *, above: bool) -> Iterator[Slot]:
        bound_to = path_text(path)
        comments = False
        for item in items.items:
            if isinstance(item, Note):
                yield self._note(item, bound_to, items, above=above, before=comments)
                comments = comments or self._comment_matches(item)
                continue
            yield from self._node(item, path, items, above=above or comments)
            comments = False

    def _node(
        self, node: Node, path: tuple[str, ...], parent: Branch | Items, *, above: bool
    ) -> Iterator[Slot]:
        if isinstance(node, Branch):
            yield from self.branch(node, path, above=above)
        elif isinstance(node, Items):
            yield from self._items(node, path, above=above)
        elif node.value is not None:
            encrypted = above != self._inverse
            yield Slot(node, path_text(path), encrypted=encrypted, parent=parent, value=node.value)

    def _note(
        self, note: Note, bound_to: str, parent: Branch | Items, *, above: bool, before: bool
    ) -> Slot:
        # A comment that says "encrypt what follows" stays readable itself; one that says "do not"
        # is the first thing left in the clear.
        itself = self._inverse and self._comment_matches(note)
        encrypted = (above or before or itself) != self._inverse
        return Slot(note, bound_to, encrypted=encrypted, parent=parent, value=Remark(note.text))

    def _key_matches(self, entry: Entry) -> bool:
        return not self._by_comment and self._matcher.matches(entry.key)

    def _comment_matches(self, note: Note) -> bool:
        return self._by_comment and self._matcher.matches(note.text)
