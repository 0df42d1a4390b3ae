"""What to look for: a secret in every form in which it may have slipped into a file."""

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
"""Characters; shorter values are parts of too many words."""
_LEAST_BITS = 24.0
_LEAST_BITS_OF_A_GUESS = 40.0
_LONG = 20
"""From so many characters on, a form is looked for across line breaks, quotes and escapes."""
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
"""What a value of an encrypted file may be that is no secret by itself."""


@record
class KnownSecret:
    """A confidential value and what it is called."""

    name: str
    """As the user knows it: `certs.os.key of the bundle`."""
    value: Secret
    guessed: bool = False
    """Whether it is only thought to be secret, because it stands in an encrypted file."""


class Needle(NamedTuple):
    """One form of one secret."""

    name: str
    text: bytes
    without_layout: bool
    """Whether it is looked for in a text without line breaks, quotes and escapes."""


def remove_layout(text: bytes) -> bytes:
    """A text without what may stand between the parts of a long value."""
    for escape in _ESCAPES:
        if escape in text:
            text = text.replace(escape, b"")
    return text.translate(None, _LAYOUT)


def is_searchable(secret: KnownSecret) -> bool:
    """Whether a value is long and random enough that finding it means something."""
    text = secret.value.reveal().strip()
    if len(text) < SHORTEST:
        return False
    if secret.guessed:
        return _entropy(text) >= _LEAST_BITS_OF_A_GUESS and _PUBLIC.fullmatch(text) is None
    return _entropy(text) >= _LEAST_BITS


def build_needles(secrets: Iterable[KnownSecret]) -> tuple[Needle, ...]:
    """Every form of every secret, each once; the first secret gives it its name."""
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
    """What a text becomes in base64, at each of the three places where it can begin."""
    for before, lost in ((0, 0), (1, 2), (2, 3)):
        encoded = base64.b64encode(b"\0" * before + raw).rstrip(b"=")
        # The last letter depends on what follows, unless it holds six bits of ours.
        end = len(encoded) - 1 if (before + len(raw)) % 3 else len(encoded)
        yield encoded[lost:end]


def _entropy(text: str) -> float:
    """How much a text says, by how often each of its characters occurs in it."""
    counts = Counter(text).values()
    return -sum(count * math.log2(count / len(text)) for count in counts)
