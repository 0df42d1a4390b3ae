"""Encodings of a secret to search for: plain, quoted, escaped, base64, single lines."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from urllib.parse import quote

MIN_LENGTH = 6
"""Shorter texts appear by chance."""
_MIN_LINE_LENGTH = 20
_ARMOR = "-----"


def secret_encodings(text: str) -> Iterator[bytes]:
    """Return every encoding of a secret, possibly with duplicates; none for a short text."""
    stripped = text.strip()
    if len(stripped) < MIN_LENGTH:
        return
    raw = stripped.encode(errors="surrogateescape")
    yield raw
    yield json.dumps(stripped)[1:-1].encode()
    yield quote(raw, safe="").encode()
    for shift in range(3):
        yield from _base64_core(raw, shift)
    # Lines of a key are specific to it. Lines of other documents also appear elsewhere.
    if stripped.startswith(_ARMOR):
        for line in stripped.splitlines():
            if len(line.strip()) >= _MIN_LINE_LENGTH and not line.startswith(_ARMOR):
                yield line.strip().encode(errors="surrogateescape")


def _base64_core(raw: bytes, shift: int) -> Iterator[bytes]:
    """Return the part of a base64 text that does not depend on its neighbours."""
    encoded = base64.b64encode(bytes(shift) + raw)
    core = encoded[-(-shift * 8 // 6) : (shift + len(raw)) * 8 // 6]
    if len(core) >= MIN_LENGTH:
        yield core
