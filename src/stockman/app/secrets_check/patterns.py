"""Patterns of secrets whose values are unknown."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

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
