"""Text in comments of configuration files: what is unusual, a colon or a percent sign is `%XX`."""

from __future__ import annotations

from urllib.parse import unquote_to_bytes

_PLAIN = frozenset(range(0x20, 0x7F)) - frozenset(b":%")


def encode_text(text: str) -> str:
    """One line as it is written down."""
    return "".join(
        chr(byte) if byte in _PLAIN else f"%{byte:02X}"
        for byte in text.encode("utf-8", "surrogatepass")
    )


def decode_text(text: str) -> str:
    """One line as it was meant."""
    return unquote_to_bytes(text).decode("utf-8", "replace")
