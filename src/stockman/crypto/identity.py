"""The identity of a configuration: marks its guests in Proxmox VE, and signs its plans.

Everything is derived one way from the secrets of the cluster, so two clusters of one name differ.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from stockman.crypto.hkdf import derive_key
from stockman.model.record import record
from stockman.model.secret import Secret

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

FINGERPRINT_BYTES = 8
_FINGERPRINT = re.compile(rf"[0-9a-f]{{{2 * FINGERPRINT_BYTES}}}")
_FINGERPRINT_PURPOSE = b"stockman identity fingerprint v1"
_SIGNING_PURPOSE = b"stockman identity signing v1"


@record
class ClusterIdentity:
    """The identity of a configuration."""

    fingerprint: str
    """16 hexadecimal digits, public: it does not reveal the secrets."""
    signing_seed: Secret | None = None
    """Seed of the signing key in hexadecimal. None: guests without a cluster have no secrets."""


def derive_identity(cluster_id: str, cluster_secret: Secret) -> ClusterIdentity:
    """Derive the identity of a cluster from `cluster.id` and `cluster.secret` of its bundle."""
    secret, salt = cluster_secret.reveal().encode(), cluster_id.encode()
    fingerprint = derive_key(secret, salt, _FINGERPRINT_PURPOSE)[:FINGERPRINT_BYTES]
    seed = derive_key(secret, salt, _SIGNING_PURPOSE)
    return ClusterIdentity(fingerprint=fingerprint.hex(), signing_seed=Secret(seed.hex()))


def is_fingerprint(text: str) -> bool:
    """Whether a text has the form of a fingerprint."""
    return _FINGERPRINT.fullmatch(text) is not None


def signing_key(identity: ClusterIdentity) -> Ed25519PrivateKey | None:
    """Return the key that signs plans. None: the configuration has no secrets."""
    if identity.signing_seed is None:
        return None
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return Ed25519PrivateKey.from_private_bytes(bytes.fromhex(identity.signing_seed.reveal()))


def verification_key(identity: ClusterIdentity) -> str:
    """Return the public half of the signing key in hexadecimal. Empty: there is none.

    It may be committed: whoever has it can verify signatures, but not create them.
    """
    key = signing_key(identity)
    return key.public_key().public_bytes_raw().hex() if key is not None else ""
