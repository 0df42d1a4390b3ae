"""What a secret may look like in a file: as it is, quoted, escaped, in base64, line by line."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from urllib.parse import quote

MIN_LENGTH = 6
"""Characters; shorter texts stand everywhere by chance."""
_MIN_LINE_LENGTH = 20
_ARMOR = "-----"


def secret_encodings(text: str) -> Iterator[bytes]:
    """Every form of a secret; some may be the same. A text that is too short has none."""
    stripped = text.strip()
    if len(stripped) < MIN_LENGTH:
        return
    raw = stripped.encode(errors="surrogateescape")
    yield raw
    yield json.dumps(stripped)[1:-1].encode()
    yield quote(raw, safe="").encode()
    for shift in range(3):
        yield from _base64_core(raw, shift)
    # Lines of a key tell it. Those of other documents stand elsewhere too.
    if stripped.startswith(_ARMOR):
        for line in stripped.splitlines():
            if len(line.strip()) >= _MIN_LINE_LENGTH and not line.startswith(_ARMOR):
                yield line.strip().encode(errors="surrogateescape")


def _base64_core(raw: bytes, shift: int) -> Iterator[bytes]:
    """Base64 of a text that starts at any place of a group of three, without what is around it."""
    encoded = base64.b64encode(bytes(shift) + raw)
    core = encoded[-(-shift * 8 // 6) : (shift + len(raw)) * 8 // 6]
    if len(core) >= MIN_LENGTH:
        yield core
