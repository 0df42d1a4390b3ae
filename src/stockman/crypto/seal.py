"""Seals: how a lock file detects changes to a secret file without decrypting it.

A seal contains a hash of the encrypted bytes, and a keyed hash of the plaintext for holders of the
identity. The key is derived from the identity by hashing alone, so comparing needs no expensive
operations. The file name is part of the hash, so that equal secrets in two files are not visible.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence

from stockman.crypto.age.identities import AgeIdentity
from stockman.crypto.hkdf import derive_key
from stockman.model.record import record

_PURPOSE = b"stockman seal of plaintext, version 1"


@record
class Seal:
    """Hashes of one secret file in a lock file."""

    disk: str
    """SHA-256 of the encrypted bytes."""
    plain: str
    """HMAC of file name and plaintext, or of its canonical form. Empty: the writer had no
    identity."""
    keyed_by: str
    """Identifies the key of the HMACs, and reveals nothing else about it. Empty: no key."""
    text: str = ""
    """HMAC of file name and plaintext with its layout. Empty: unknown to the writer."""


def create_seal(
    file: str, content: bytes, plain: bytes, identity: AgeIdentity, text: bytes | None = None
) -> Seal:
    """Create the seal of a file with an identity that can verify it."""
    key = _derive_seal_key(identity)
    return Seal(
        disk=hashlib.sha256(content).hexdigest(),
        plain=_hash(key, b"plain", file, plain),
        keyed_by=_key_id(key),
        text="" if text is None else _hash(key, b"text", file, text),
    )


def create_seal_without_identity(content: bytes) -> Seal:
    """Create the seal of a file from its bytes alone."""
    return Seal(disk=hashlib.sha256(content).hexdigest(), plain="", keyed_by="")


def matches_file(seal: Seal, content: bytes) -> bool:
    """Return whether the bytes are those that were sealed; needs no identity."""
    return hmac.compare_digest(seal.disk, hashlib.sha256(content).hexdigest())


def matches_plaintext(
    seal: Seal, file: str, plain: bytes, identities: Sequence[AgeIdentity]
) -> bool | None:
    """Return whether a plaintext is the sealed one; None: the identity is not available."""
    for identity in identities:
        key = _derive_seal_key(identity)
        if hmac.compare_digest(_key_id(key), seal.keyed_by):
            return hmac.compare_digest(seal.plain, _hash(key, b"plain", file, plain))
    return None


def matches_text(seal: Seal, file: str, text: bytes, identities: Sequence[AgeIdentity]) -> bool:
    """Return whether the file was written from exactly this text."""
    for identity in identities:
        key = _derive_seal_key(identity)
        if hmac.compare_digest(_key_id(key), seal.keyed_by):
            return hmac.compare_digest(seal.text, _hash(key, b"text", file, text))
    return False


def _derive_seal_key(identity: AgeIdentity) -> bytes:
    purpose = _PURPOSE + (b", post-quantum" if identity.is_post_quantum else b", classic")
    return derive_key(identity.raw, None, purpose)


def _key_id(key: bytes) -> str:
    return hmac.digest(key, b"name", hashlib.sha256).hex()[:16]


def _hash(key: bytes, purpose: bytes, file: str, content: bytes) -> str:
    message = purpose + b"\0" + file.encode() + b"\0" + content
    return hmac.digest(key, message, hashlib.sha256).hex()
