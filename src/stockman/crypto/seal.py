"""Seals: how a lock file knows that a secret file is unchanged, without opening it.

A seal holds a hash of the bytes on disk, for everyone, and a keyed hash of the plaintext, for who
has the identity. The key is derived from the identity by hashing alone: comparing costs no
operation on curves or lattices. The name of the file is part of it, so that equal secrets in two
files do not show.
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
    """What a lock file keeps of one secret file."""

    disk: str
    """SHA-256 of the encrypted bytes."""
    plain: str
    """HMAC of name and plaintext, or of what that means. Empty: the writer had no identity."""
    keyed_by: str
    """Tells which identity the HMACs are keyed from, and nothing else about it. Empty: none."""
    text: str = ""
    """HMAC of name and plaintext as it was laid out. Empty: the writer did not know it."""


def create_seal(
    file: str, content: bytes, plain: bytes, identity: AgeIdentity, text: bytes | None = None
) -> Seal:
    """The seal of a file, with the identity that whoever checks it will have."""
    key = _derive_seal_key(identity)
    return Seal(
        disk=hashlib.sha256(content).hexdigest(),
        plain=_hash(key, b"plain", file, plain),
        keyed_by=_key_id(key),
        text="" if text is None else _hash(key, b"text", file, text),
    )


def create_seal_without_identity(content: bytes) -> Seal:
    """The seal of a file by its bytes alone, for who has no identity."""
    return Seal(disk=hashlib.sha256(content).hexdigest(), plain="", keyed_by="")


def matches_file(seal: Seal, content: bytes) -> bool:
    """Whether the bytes are those that were sealed; needs no identity."""
    return hmac.compare_digest(seal.disk, hashlib.sha256(content).hexdigest())


def matches_plaintext(
    seal: Seal, file: str, plain: bytes, identities: Sequence[AgeIdentity]
) -> bool | None:
    """Whether a plaintext is the one that was sealed; None: that identity is not at hand."""
    for identity in identities:
        key = _derive_seal_key(identity)
        if hmac.compare_digest(_key_id(key), seal.keyed_by):
            return hmac.compare_digest(seal.plain, _hash(key, b"plain", file, plain))
    return None


def matches_text(seal: Seal, file: str, text: bytes, identities: Sequence[AgeIdentity]) -> bool:
    """Whether a file is known to have been written from this very text."""
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
