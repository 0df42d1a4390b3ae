"""HKDF with SHA-256 (RFC 5869) for keys of one block: two HMACs, and nothing to import for them."""

from __future__ import annotations

import hashlib
import hmac

KEY_BYTES = 32


def derive_key(secret: bytes, salt: bytes | None, purpose: bytes) -> bytes:
    """32 bytes for one purpose only."""
    extracted = hmac.digest(salt or bytes(KEY_BYTES), secret, hashlib.sha256)
    return hmac.digest(extracted, purpose + b"\x01", hashlib.sha256)
