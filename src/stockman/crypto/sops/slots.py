"""All values and comments of a tree in order, their MAC, and comparisons of trees."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

from stockman.crypto.sops.forms import FileFormat, file_format, parse_plaintext
from stockman.crypto.sops.scalars import CommentText, SopsValue, value_bytes, value_type
from stockman.crypto.sops.selectors import ENCRYPT_ALL, Matcher
from stockman.crypto.sops.tree import (
    METADATA_KEY,
    SopsComment,
    SopsDocument,
    SopsEntry,
    SopsMapping,
    SopsNode,
    SopsScalar,
    SopsSequence,
)
from stockman.crypto.sops.values import bound_path

# SHA-256 of the word `sops`: a check sum over encrypted values alone is never one over all.
_ONLY_ENCRYPTED = hashlib.sha256(b"sops").digest()


class Slot:
    """A value or comment, the keys above it, and its container."""

    __slots__ = ("bound_path", "encrypted", "node", "parent", "value")

    def __init__(
        self,
        node: SopsScalar | SopsComment,
        bound_to: str,
        *,
        encrypted: bool,
        parent: SopsMapping | SopsSequence,
        value: SopsValue = None,
    ) -> None:
        self.node = node
        self.bound_path = bound_to
        self.encrypted = encrypted
        self.parent = parent
        self.value = value
        """Plaintext, if known."""


def walk_slots(documents: Iterable[SopsDocument], matcher: Matcher) -> Iterator[Slot]:
    """Yield all values except null, and all comments, without the `sops` entry."""
    walk = _SlotWalker(matcher)
    for document in documents:
        yield from walk.branch(document.root, (), above=False)


def compute_mac(values: Iterable[Slot], *, only_encrypted: bool) -> str:
    """Return the MAC of a file: SHA-512 over its values in order, without comments."""
    digest = hashlib.sha512(_ONLY_ENCRYPTED if only_encrypted else b"")
    for slot in values:
        if isinstance(slot.value, CommentText) or (only_encrypted and not slot.encrypted):
            continue
        digest.update(value_bytes(slot.value))
    return digest.hexdigest().upper()


class _SlotWalker:
    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher
        self._inverse = matcher.selector.is_inverse
        self._by_comment = matcher.selector.by_comment

    def branch(self, branch: SopsMapping, path: tuple[str, ...], *, above: bool) -> Iterator[Slot]:
        """Yield the slots of a mapping; `above` is whether something above it matches."""
        bound_to = bound_path(path)
        comments = False
        for item in branch.items:
            if isinstance(item, SopsComment):
                yield self._note(item, bound_to, branch, above=above, before=comments)
                comments = comments or self._comment_matches(item)
                continue
            if not path and item.key == METADATA_KEY:
                continue
            matched = above or comments or self._key_matches(item)
            yield from self._node(item.node, (*path, item.key), branch, above=matched)
            comments = False

    def _items(self, items: SopsSequence, path: tuple[str, ...], *, above: bool) -> Iterator[Slot]:
        bound_to = bound_path(path)
        comments = False
        for item in items.items:
            if isinstance(item, SopsComment):
                yield self._note(item, bound_to, items, above=above, before=comments)
                comments = comments or self._comment_matches(item)
                continue
            yield from self._node(item, path, items, above=above or comments)
            comments = False

    def _node(
        self,
        node: SopsNode,
        path: tuple[str, ...],
        parent: SopsMapping | SopsSequence,
        *,
        above: bool,
    ) -> Iterator[Slot]:
        if isinstance(node, SopsMapping):
            yield from self.branch(node, path, above=above)
        elif isinstance(node, SopsSequence):
            yield from self._items(node, path, above=above)
        elif node.value is not None:
            encrypted = above != self._inverse
            yield Slot(node, bound_path(path), encrypted=encrypted, parent=parent, value=node.value)

    def _note(
        self,
        note: SopsComment,
        bound_to: str,
        parent: SopsMapping | SopsSequence,
        *,
        above: bool,
        before: bool,
    ) -> Slot:
        # A comment that says "encrypt what follows" stays readable itself; one that says "do not"
        # is the first thing left in the clear.
        itself = self._inverse and self._comment_matches(note)
        encrypted = (above or before or itself) != self._inverse
        return Slot(
            note, bound_to, encrypted=encrypted, parent=parent, value=CommentText(note.text)
        )

    def _key_matches(self, entry: SopsEntry) -> bool:
        return not self._by_comment and self._matcher.matches(entry.key)

    def _comment_matches(self, note: SopsComment) -> bool:
        return self._by_comment and self._matcher.matches(note.text)


OutlineToken = tuple[str, str]


def outline(documents: Iterable[SopsDocument], slots: Iterable[Slot]) -> list[OutlineToken]:
    """Return tokens that are equal for trees that differ only in values and layout."""
    known = {id(slot.node): slot.value for slot in slots}
    tokens: list[OutlineToken] = []
    for document in documents:
        tokens.append(("document", ""))
        tokens += _mapping_tokens(document.root, known, top=True)
    return tokens


def _mapping_tokens(
    branch: SopsMapping, known: dict[int, SopsValue], *, top: bool = False
) -> Iterator[OutlineToken]:
    for item in branch.items:
        if isinstance(item, SopsComment):
            yield _comment_token(item, known)
        elif not (top and item.key == METADATA_KEY):
            yield "key", item.key
            yield from _node_tokens(item.node, known)
    yield "end", ""


def _node_tokens(node: SopsNode, known: dict[int, SopsValue]) -> Iterator[OutlineToken]:
    if isinstance(node, SopsMapping):
        yield "mapping", ""
        yield from _mapping_tokens(node, known)
    elif isinstance(node, SopsSequence):
        yield "list", ""
        for item in node.items:
            if isinstance(item, SopsComment):
                yield _comment_token(item, known)
            else:
                yield from _node_tokens(item, known)
        yield "end", ""
    else:
        yield _scalar_token(node, known)


def _scalar_token(leaf: SopsScalar, known: dict[int, SopsValue]) -> OutlineToken:
    value = known.get(id(leaf), leaf.value)
    if isinstance(value, CommentText):
        return "comment", value.text
    return ("null" if value is None else "value"), ""


def _comment_token(note: SopsComment, known: dict[int, SopsValue]) -> OutlineToken:
    value = known.get(id(note))
    return "comment", value.text if isinstance(value, CommentText) else note.text


def canonical_bytes(plain: bytes, file: str) -> bytes:
    """Return bytes that are equal for plaintexts with the same content, whatever their layout.

    They contain keys, comments and typed values in order; a binary file is returned unchanged.
    """
    form = file_format(file)
    if form is FileFormat.BINARY:
        return plain
    sheet = parse_plaintext(plain, form, file)
    slots = list(walk_slots(sheet.documents, ENCRYPT_ALL.compile()))

    def pieces() -> Iterator[bytes]:
        for kind, text in outline(sheet.documents, slots):
            yield kind.encode()
            yield text.encode()
        for slot in slots:
            if not isinstance(slot.value, CommentText):
                yield value_type(slot.value).encode()
                yield value_bytes(slot.value)

    return b"".join(len(piece).to_bytes(8, "big") + piece for piece in pieces())
