"""Encrypted values, `ENC[AES256_GCM,data:...,iv:...,tag:...,type:...]`, and all values of a tree.

A value is bound to the keys above it: it cannot be decrypted at another path."""

from __future__ import annotations

import base64
import binascii
import hashlib
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from stockman.crypto import primitives
from stockman.crypto.sops.forms import FileFormat, file_format, parse_plaintext
from stockman.crypto.sops.scalars import (
    INT_MAX,
    INT_MIN,
    CommentText,
    SopsValue,
    Timestamp,
    resolve_scalar,
    value_bytes,
    value_type,
)
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
from stockman.model.pattern import pattern

DATA_KEY_BYTES = 32

_ENCRYPTED_VALUE = pattern(r"ENC\[AES256_GCM,data:(.+),iv:(.+),tag:(.+),type:(.+)\]")
_NONCE_BYTES = 32
_TAG_BYTES = 16
_LEAST_NONCE, _MOST_NONCE = 8, 128
_INT = pattern(r"[-+]?[0-9]+")
_FLOAT = pattern(
    r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]+)?|[-+]?inf(?:inity)?|nan", re.IGNORECASE
)
_TRUE = ("1", "t", "T", "TRUE", "true", "True")
_FALSE = ("0", "f", "F", "FALSE", "false", "False")
_RFC3339 = pattern(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}.*")


class ValueCipher:
    """Encrypts and decrypts values with the data key of one file."""

    def __init__(self, data_key: bytes) -> None:
        self._cipher = primitives.AESGCM(data_key)

    def encrypt(self, value: SopsValue, bound_to: str, random_bytes: Callable[[int], bytes]) -> str:
        """Encrypt a value; an empty text stays empty."""
        plain = value_bytes(value)
        if not plain:
            return ""
        nonce = random_bytes(_NONCE_BYTES)
        ciphertext = self._cipher.encrypt(nonce, plain, bound_to.encode())
        data, tag = ciphertext[:-_TAG_BYTES], ciphertext[-_TAG_BYTES:]
        return (
            f"ENC[AES256_GCM,data:{_encode_base64(data)},iv:{_encode_base64(nonce)},tag:{_encode_base64(tag)}"
            f",type:{value_type(value)}]"
        )

    def decrypt(self, text: str, bound_to: str) -> SopsValue:
        """Decrypt a value; ValueError describes the failure without the value."""
        if not text:
            return ""
        match = _ENCRYPTED_VALUE.match(text)
        if match is None:
            raise ValueError("it does not have the form ENC[AES256_GCM,...]")
        try:
            data, nonce, tag = (
                base64.b64decode(group, validate=True) for group in match.groups()[:3]
            )
        except (binascii.Error, ValueError):
            raise ValueError("a part of it is not base64") from None
        if not _LEAST_NONCE <= len(nonce) <= _MOST_NONCE:
            raise ValueError("its `iv` has a length that is never used")
        try:
            plain = self._cipher.decrypt(nonce, data + tag, bound_to.encode())
        except primitives.InvalidTag:
            raise ValueError(
                "it does not open at this place with the data key of the file"
            ) from None
        return _parse_typed(plain.decode("utf-8", "surrogateescape"), match[4])


def looks_encrypted(text: str) -> bool:
    """Return whether a text has the form of an encrypted value."""
    return _ENCRYPTED_VALUE.match(text) is not None


def bound_path(path: Sequence[str]) -> str:
    """Return the path that a value is bound to: the keys above it, each followed by a colon."""
    return ":".join(path) + ":"


def _parse_typed(text: str, kind: str) -> SopsValue:
    match kind:
        case "str":
            return text
        case "int" if _INT.fullmatch(text) and INT_MIN <= int(text) <= INT_MAX:
            return int(text)
        case "float" if _FLOAT.fullmatch(text):
            return _parse_float(text)
        case "bool" if text in _TRUE or text in _FALSE:
            return text in _TRUE
        case "time" if _RFC3339.fullmatch(text) and isinstance(resolve_scalar(text), Timestamp):
            return resolve_scalar(text)
        case "comment":
            return CommentText(text)
    raise ValueError("its content is not of the type that it names")


def _parse_float(text: str) -> float:
    number = float(text)
    if math.isinf(number) and "i" not in text.lower():
        raise ValueError("its number is too large")
    return number


def _encode_base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


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
