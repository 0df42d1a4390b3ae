"""Search for many secrets in one content and report their lines."""

from __future__ import annotations

import base64
import json
import math
import re
import struct
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple
from urllib.parse import quote

from stockman.crypto.private_keys import private_key_bytes
from stockman.model.record import record
from stockman.model.secret import Secret

_MOST = 20
"""Maximum number of matches of one kind in one file."""
_BEFORE, _BEHIND = 64, 512
"""Bytes around a sign that a form may take."""


class _Pattern(NamedTuple):
    name: str
    signs: tuple[bytes, ...]
    """The expression is tried only around these texts, which is a hundred times faster."""
    form: re.Pattern[bytes]


def _pattern(name: str, *signs: bytes, form: bytes) -> _Pattern:
    return _Pattern(name, signs, re.compile(form, re.MULTILINE))


# "PRIVATE KEY" in base64 at each of three alignments.
_KEY_IN_BASE64 = tuple(
    base64.b64encode(b"\0" * before + b"PRIVATE KEY")[first:last]
    for before, first, last in ((0, 0, 14), (1, 2, 16), (2, 3, 16))
)
_ENDING = b"[A-Za-z0-9+/]{43}=(?![A-Za-z0-9+/=])"
_TOKEN = rb"[a-z0-9]{6}\.[a-z0-9]{16}(?![\w.])"

_PATTERNS = (
    _pattern(
        "an age identity",
        b"AGE-SECRET-KEY-",
        form=b"AGE-SECRET-KEY-(?:PQ-)?1[0-9A-Z]{50,}",
    ),
    _pattern(
        "a private key",
        b"PRIVATE KEY-----",
        form=rb"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY-----"
        rb"(?:\\[nr]|[\s\"'#,+]|[A-Z][\w-]+: .*)*[A-Za-z0-9+/]{16}",
    ),
    _pattern(
        "a client key of a kubeconfig",
        b"client-key-data",
        form=rb"client-key-data[\"']?:\s*[\"']?LS0t[A-Za-z0-9+/]{40,}",
    ),
    _pattern(
        "a private key of a talosconfig, a bundle or a machine configuration",
        *_KEY_IN_BASE64,
        form=b"(?:" + b"|".join(_KEY_IN_BASE64) + b")[A-Za-z0-9+/]{40,}",
    ),
    _pattern(
        "an encryption secret of a Talos cluster",
        b"ncryptionsecret",
        b"ncryptionSecret",
        form=rb"(?:secretbox|aescbc)[Ee]ncryption[Ss]ecret[\"']?:\s*[\"']?" + _ENDING,
    ),
    _pattern(
        "a bootstrap token of a cluster",
        b"token:",
        b'token":',
        b"token':",
        form=rb"\b(?:bootstrap)?token[\"']?:\s*[\"']?(?=[^\n]*[0-9])" + _TOKEN,
    ),
)


def find_suspicious(content: bytes) -> Iterator[tuple[str, int]]:
    """Return matches with an index inside each; a few of each kind."""
    for pattern in _PATTERNS:
        positions = sorted(at for sign in pattern.signs for at in _places(content, sign))
        matches = (
            pattern.form.search(content, max(0, at - _BEFORE), at + _BEHIND) for at in positions
        )
        for match in islice(filter(None, matches), _MOST):
            yield pattern.name, match.end() - 1


def _places(content: bytes, sign: bytes) -> Iterator[int]:
    at = content.find(sign)
    while at >= 0:
        yield at
        at = content.find(sign, at + len(sign))


_BLOCK = struct.Struct("12s")
"""Size of the blocks of a form; a form twice as long always contains a whole block."""
_WINDOW = 2 * _BLOCK.size - 1
_REMOVED = re.compile(rb"(?:\\[nrt]|[ \t\r\n\"'\\])+")


class Hit(NamedTuple):
    """A secret in a content."""

    name: str
    line: int
    """Counts from 1."""
    known: bool
    """Whether the value is known, or only matches a pattern."""


class Scanner:
    """Searches for a fixed set of forms.

    The cost does not depend on the number of long forms: blocks of the content are looked up in a
    set of all blocks of all forms, and only matches are compared. Short forms are searched one by
    one.
    """

    def __init__(self, needles: Iterable[Needle]) -> None:
        all_needles = tuple(needles)
        self._as_written = [needle for needle in all_needles if not needle.without_layout]
        self._without_layout = [needle for needle in all_needles if needle.without_layout]
        long = [needle.text for needle in self._without_layout if len(needle.text) >= _WINDOW]
        self._blocks = {block for text in long for block in _blocks(text)}
        self._short = [needle for needle in self._without_layout if len(needle.text) < _WINDOW]

    def hits(self, content: bytes) -> tuple[Hit, ...]:
        """Return each secret in the content once, at its first position."""
        by_name: dict[str, Hit] = {}
        for hit in self._known(content):
            by_name.setdefault(hit.name, hit)
        lines = {hit.line for hit in by_name.values()}
        for name, at in find_suspicious(content):
            line = _line(content, at)
            if line not in lines:
                lines.add(line)
                by_name.setdefault(name, Hit(name, line, known=False))
        return tuple(sorted(by_name.values(), key=lambda hit: hit.line))

    def _known(self, content: bytes) -> Iterator[Hit]:
        for needle in self._as_written:
            if needle.text in content:
                yield Hit(needle.name, _line(content, content.index(needle.text)), known=True)
        if not self._without_layout:
            return
        small = remove_layout(content)
        view = memoryview(small)[: len(small) - len(small) % _BLOCK.size]
        is_alike = not self._blocks.isdisjoint(_BLOCK.iter_unpack(view))
        for needle in self._without_layout if is_alike else self._short:
            if needle.text in small:
                at = _place(content, small.index(needle.text))
                yield Hit(needle.name, _line(content, at), known=True)


def _blocks(text: bytes) -> Iterator[tuple[bytes]]:
    """Return the blocks in the middle of a form at every alignment."""
    start = (len(text) - _WINDOW) // 2
    for at in range(start, start + _BLOCK.size):
        yield (text[at : at + _BLOCK.size],)


def _line(content: bytes, at: int) -> int:
    return content.count(b"\n", 0, at) + 1


def _place(content: bytes, kept: int) -> int:
    """Return the index of the byte after `kept` bytes that are not layout."""
    start = 0
    for gap in _REMOVED.finditer(content):
        if gap.start() - start > kept:
            break
        kept -= gap.start() - start
        start = gap.end()
    return start + kept


SHORTEST = 8
"""Characters; shorter values occur by chance."""
_LEAST_BITS = 24.0
_LEAST_BITS_OF_A_GUESS = 40.0
_LONG = 20
"""Forms of at least this many characters are found across line breaks, quotes and escapes."""
_KEY = re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----(?P<body>[^-]+)-----END")
_ESCAPES = (rb"\n", rb"\r", rb"\t")
_LAYOUT = b" \t\r\n\"'\\"
_PUBLIC = re.compile(
    r"(?:[a-z]+://)?[a-z0-9*_-]+(?:\.[a-z0-9_-]+)+(?::\d+)?(?:/[^\s@]*)?"  # a host, an address
    r"|[\w.+-]+@[\w.-]+"  # a mailbox
    r"|(?:age|ssh-|ecdsa-)[a-z0-9-]+\s?\S*(?: \S+)?"  # a public key
    r"|(?:\.{0,2}/)?[\w.-]+(?:/[\w.-]+)+"  # a path
    r"|[A-Za-z]+(?:[-_ .][A-Za-z]+)*"  # words
    r"|[-+\d.,:eTZ]+",  # numbers and times
    re.IGNORECASE,
)
"""Values in encrypted files that are not secret by themselves."""


@record
class KnownSecret:
    """A secret value and its name."""

    name: str
    """For display: `certs.os.key of the bundle`."""
    value: Secret
    guessed: bool = False
    """Whether it is only assumed to be secret, because it is in an encrypted file."""


class Needle(NamedTuple):
    """One form of one secret."""

    name: str
    text: bytes
    without_layout: bool
    """Whether it is searched in a text without line breaks, quotes and escapes."""


def remove_layout(text: bytes) -> bytes:
    """Remove characters that may separate the parts of a long value."""
    for escape in _ESCAPES:
        if escape in text:
            text = text.replace(escape, b"")
    return text.translate(None, _LAYOUT)


def is_searchable(secret: KnownSecret) -> bool:
    """Whether a value is long and random enough to search for."""
    text = secret.value.reveal().strip()
    if len(text) < SHORTEST:
        return False
    if secret.guessed:
        return _entropy(text) >= _LEAST_BITS_OF_A_GUESS and _PUBLIC.fullmatch(text) is None
    return _entropy(text) >= _LEAST_BITS


def build_needles(secrets: Iterable[KnownSecret]) -> tuple[Needle, ...]:
    """Return every form of every secret once, named after the first secret."""
    by_text: dict[bytes, Needle] = {}
    for secret in secrets:
        for text in _encodings(secret.value):
            is_long = len(text) >= _LONG
            form = remove_layout(text) if is_long else text
            if len(form) >= SHORTEST:
                by_text.setdefault(form, Needle(secret.name, form, is_long))
    return tuple(by_text.values())


def _encodings(value: Secret) -> Iterator[bytes]:
    text = value.reveal().strip()
    key = _KEY.search(text)
    if key is not None:
        yield from _key_forms(value, key["body"])
        return
    raw = text.encode("utf-8", "surrogateescape")
    yield raw
    yield from _base64_forms(raw)
    written = (json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1])
    escaped = (*written, text.replace("'", "''"), quote(raw, safe=""))
    yield from (form.encode("utf-8", "surrogateescape") for form in escaped if form != text)


def _key_forms(value: Secret, body: str) -> Iterator[bytes]:
    yield body.encode()
    yield from _base64_forms(value.reveal().encode())
    secret_bytes = private_key_bytes(value)
    if secret_bytes is not None:
        yield secret_bytes
        yield from _base64_forms(secret_bytes)


def _base64_forms(raw: bytes) -> Iterator[bytes]:
    """Return the base64 forms of a text at each of three alignments."""
    for before, lost in ((0, 0), (1, 2), (2, 3)):
        encoded = base64.b64encode(b"\0" * before + raw).rstrip(b"=")
        # The last character depends on what follows, unless all of its bits are ours.
        end = len(encoded) - 1 if (before + len(raw)) % 3 else len(encoded)
        yield encoded[lost:end]


def _entropy(text: str) -> float:
    """Return the Shannon entropy of a text in bits."""
    counts = Counter(text).values()
    return -sum(count * math.log2(count / len(text)) for count in counts)
