"""HKDF with SHA-256 (RFC 5869) for 32-byte keys: two HMACs, without heavy imports."""

from __future__ import annotations

import hashlib
import hmac

KEY_BYTES = 32


def derive_key(secret: bytes, salt: bytes | None, purpose: bytes) -> bytes:
    """Derive a 32-byte key for one purpose."""
    extracted = hmac.digest(salt or bytes(KEY_BYTES), secret, hashlib.sha256)
    return hmac.digest(extracted, purpose + b"\x01", hashlib.sha256)
