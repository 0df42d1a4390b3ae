"""Post-quantum age keys: ML-KEM-768 combined with X25519, in HPKE.

An attacker needs to break both. The random numbers of wrapping come from the cryptographic library,
which has no way to pass them in.
"""

from __future__ import annotations

import hashlib
from functools import cache

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.mlkem import MLKEM768PrivateKey, MLKEM768PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.hpke import (
    AEAD,
    KDF,
    KEM,
    MLKEM768X25519PrivateKey,
    MLKEM768X25519PublicKey,
    Suite,
)

from stockman.crypto.age.header import (
    HYBRID_SEED_BYTES,
    Stanza,
    decode_share,
    encode_base64,
)

KIND = "mlkem768x25519"

_LABEL = b"age-encryption.org/mlkem768x25519"
_MLKEM_SEED = 64
_MLKEM_PUBLIC = 1184
_SHARE = 1088 + 32


def public_key(seed: bytes) -> bytes:
    """Return the public key of a 32-byte seed."""
    mlkem, x25519 = _derive_keys(seed)
    return mlkem.public_key().public_bytes_raw() + x25519.public_key().public_bytes_raw()


def wrap(public: bytes, file_key: bytes) -> Stanza:
    """Wrap a file key for a public key; raises ValueError if the key is invalid."""
    key = MLKEM768X25519PublicKey(
        MLKEM768PublicKey.from_public_bytes(public[:_MLKEM_PUBLIC]),
        X25519PublicKey.from_public_bytes(public[_MLKEM_PUBLIC:]),
    )
    ciphertext = _suite().encrypt(file_key, key, info=_LABEL)
    return Stanza(
        kind=KIND, arguments=(encode_base64(ciphertext[:_SHARE]),), body=ciphertext[_SHARE:]
    )


def unwrap(seed: bytes, stanza: Stanza, where: str) -> bytes | None:
    """Return the file key; None: the stanza is for another recipient."""
    if stanza.kind != KIND:
        return None
    share = decode_share(stanza, _SHARE, where, "a post-quantum")
    key = MLKEM768X25519PrivateKey(*_derive_keys(seed))
    try:
        return _suite().decrypt(share + stanza.body, key, info=_LABEL)
    except InvalidTag:
        return None


@cache
def _suite() -> Suite:
    # Made when first needed: a library without ML-KEM can still do everything else.
    return Suite(KEM.MLKEM768_X25519, KDF.HKDF_SHA256, AEAD.CHACHA20_POLY1305)


def _derive_keys(seed: bytes) -> tuple[MLKEM768PrivateKey, X25519PrivateKey]:
    if len(seed) != HYBRID_SEED_BYTES:
        raise ValueError(f"a post-quantum identity is made of {HYBRID_SEED_BYTES} bytes")
    stretched = hashlib.shake_256(seed).digest(_MLKEM_SEED + 32)
    return (
        MLKEM768PrivateKey.from_seed_bytes(stretched[:_MLKEM_SEED]),
        X25519PrivateKey.from_private_bytes(stretched[_MLKEM_SEED:]),
    )
