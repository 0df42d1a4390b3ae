"""X25519 keys of age: wrapping and unwrapping a file key."""

from __future__ import annotations

from collections.abc import Callable

from cryptography.exceptions import InvalidTag

from stockman.crypto.age import problems
from stockman.crypto.age.header import (
    CLASSIC_BYTES,
    Stanza,
    decode_share,
    encode_base64,
)
from stockman.crypto.hkdf import derive_key
from stockman.crypto.primitives import ChaCha20Poly1305, x25519_private_key, x25519_public_key

KIND = "X25519"

_LABEL = b"age-encryption.org/v1/X25519"
_NO_NONCE = bytes(12)


def public_key(private: bytes) -> bytes:
    """Return the public key of a private key."""
    return x25519_private_key(private).public_key().public_bytes_raw()


def wrap(public: bytes, file_key: bytes, random_bytes: Callable[[int], bytes]) -> Stanza:
    """Wrap a file key for a public key."""
    ephemeral = x25519_private_key(random_bytes(CLASSIC_BYTES))
    share = ephemeral.public_key().public_bytes_raw()
    secret = ephemeral.exchange(x25519_public_key(public))
    cipher = ChaCha20Poly1305(derive_key(secret, share + public, _LABEL))
    # One key seals one message, so the nonce may be nothing but zeros.
    body = cipher.encrypt(_NO_NONCE, file_key, None)
    return Stanza(kind=KIND, arguments=(encode_base64(share),), body=body)


def unwrap(private: bytes, stanza: Stanza, where: str) -> bytes | None:
    """Return the file key; None: the stanza is for another recipient."""
    if stanza.kind != KIND:
        return None
    share = decode_share(stanza, CLASSIC_BYTES, where, "an X25519")
    key = x25519_private_key(private)
    try:
        secret = key.exchange(x25519_public_key(share))
    except ValueError:
        raise problems.bad_stanza(where, "its X25519 share is a point of low order") from None
    cipher = ChaCha20Poly1305(derive_key(secret, share + public_key(private), _LABEL))
    try:
        return cipher.decrypt(_NO_NONCE, stanza.body, None)
    except InvalidTag:
        return None
