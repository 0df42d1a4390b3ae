"""Forms of secrets to search for: plain, encoded and escaped."""

from __future__ import annotations

import base64
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple
from urllib.parse import quote

from stockman.crypto.private_keys import private_key_bytes
from stockman.model.record import record
from stockman.model.secret import Secret

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
