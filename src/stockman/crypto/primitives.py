"""Cryptographic primitives for encrypted files, imported directly from the compiled library.

The documented packages import all other primitives first, which takes longer than encrypting a
file. If a release of the library moves them, the documented packages are used instead.
"""

from __future__ import annotations

__all__ = ["AESGCM", "ChaCha20Poly1305", "x25519_private_key", "x25519_public_key"]

try:
    from cryptography.hazmat.bindings._rust import openssl

    AESGCM = openssl.aead.AESGCM
    ChaCha20Poly1305 = openssl.aead.ChaCha20Poly1305
    x25519_private_key = openssl.x25519.from_private_bytes
    x25519_public_key = openssl.x25519.from_public_bytes
except (ImportError, AttributeError):
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305

    x25519_private_key = X25519PrivateKey.from_private_bytes
    x25519_public_key = X25519PublicKey.from_public_bytes
