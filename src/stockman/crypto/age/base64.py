"""Base64 as age writes it: no padding, exactly one spelling for each value."""

from __future__ import annotations

import base64
import binascii
import re

COLUMNS = 64
BYTES_PER_LINE = COLUMNS // 4 * 3

_ALPHABET = re.compile(r"[A-Za-z0-9+/]*")


def encoded(data: bytes) -> str:
    """Base64 without padding."""
    return base64.b64encode(data).decode("ascii").rstrip("=")


def decoded(text: str) -> bytes:
    """The bytes of unpadded base64; ValueError for every other spelling."""
    if _ALPHABET.fullmatch(text) is None:
        raise ValueError("a character that is not base64")
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except binascii.Error:
        raise ValueError("a length that base64 does not have") from None
    if encoded(data) != text:
        raise ValueError("bits behind the end")
    return data


def wrapped(data: bytes) -> str:
    """Unpadded base64 in lines of 64; the last line is shorter than that, maybe empty."""
    text = encoded(data)
    return "".join(
        f"{text[start : start + COLUMNS]}\n" for start in range(0, len(text) + 1, COLUMNS)
    )
