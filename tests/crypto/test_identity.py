"""The identity of a cluster, derived from its secrets."""

from __future__ import annotations

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from stockman.crypto.identity import (
    ClusterIdentity,
    derive_identity,
    is_fingerprint,
    signing_key,
    verification_key,
)
from stockman.model.secret import Secret

IDENTITY = derive_identity("an id", Secret("a secret"))


def test_the_fingerprint_is_derived_with_hkdf_and_depends_on_id_and_secret() -> None:
    library = HKDF(hashes.SHA256(), 32, b"an id", b"stockman identity fingerprint v1")

    assert IDENTITY.fingerprint == library.derive(b"a secret").hex()[:16]
    assert is_fingerprint(IDENTITY.fingerprint)
    others = {
        derive_identity("an id", Secret("another")).fingerprint,
        derive_identity("another", Secret("a secret")).fingerprint,
    }
    assert len({IDENTITY.fingerprint, *others}) == 3


def test_the_public_key_verifies_signatures_and_the_seed_stays_hidden() -> None:
    key = signing_key(IDENTITY)

    assert key is not None
    public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(verification_key(IDENTITY)))
    public.verify(key.sign(b"a plan"), b"a plan")
    seed = key.private_bytes_raw().hex()
    assert seed not in repr(IDENTITY)
    assert not seed.startswith(IDENTITY.fingerprint)


def test_guests_without_secrets_have_no_signing_key() -> None:
    identity = ClusterIdentity(fingerprint="0f1e2d3c4b5a6978")

    assert signing_key(identity) is None
    assert verification_key(identity) == ""
