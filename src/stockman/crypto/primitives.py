"""Cryptographic primitives for encrypted files, imported directly from the compiled library.

The library is loaded on first use: that takes longer than starting Python, and commands that find
all encrypted files unchanged do not need it. The documented packages import all other primitives
too, which takes longer than encrypting a file; they are used if a release of the library moves
the primitives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305

    x25519_private_key = X25519PrivateKey.from_private_bytes
    x25519_public_key = X25519PublicKey.from_public_bytes

__all__ = ["AESGCM", "ChaCha20Poly1305", "InvalidTag", "x25519_private_key", "x25519_public_key"]


def __getattr__(name: str) -> object:
    """Load all primitives when the first one is used."""
    if name not in __all__:
        raise AttributeError(name)
    globals().update(_load())
    return globals()[name]


def _load() -> dict[str, object]:
    from cryptography.exceptions import InvalidTag

    try:
        from cryptography.hazmat.bindings._rust import openssl

        return {
            "AESGCM": openssl.aead.AESGCM,
            "ChaCha20Poly1305": openssl.aead.ChaCha20Poly1305,
            "InvalidTag": InvalidTag,
            "x25519_private_key": openssl.x25519.from_private_bytes,
            "x25519_public_key": openssl.x25519.from_public_bytes,
        }
    except (ImportError, AttributeError):
        from cryptography.hazmat.primitives.asymmetric.x25519 import (
            X25519PrivateKey,
            X25519PublicKey,
        )
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305

        return {
            "AESGCM": AESGCM,
            "ChaCha20Poly1305": ChaCha20Poly1305,
            "InvalidTag": InvalidTag,
            "x25519_private_key": X25519PrivateKey.from_private_bytes,
            "x25519_public_key": X25519PublicKey.from_public_bytes,
        }
