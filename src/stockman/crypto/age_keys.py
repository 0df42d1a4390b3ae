"""X25519 identities of age, and the file that `age-keygen` writes for one."""

from __future__ import annotations

from datetime import UTC, datetime

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from stockman.crypto.bech32 import bech32
from stockman.model.record import record
from stockman.model.secret import Secret

RAW_BYTES = 32
"""How many random bytes an identity is made of."""


@record
class AgeIdentity:
    """A key that opens what was encrypted for its recipient."""

    recipient: str
    """Public half, `age1...`."""
    identity: Secret
    """Private half, `AGE-SECRET-KEY-1...`."""


def age_identity(raw: bytes) -> AgeIdentity:
    """The identity that 32 random bytes make."""
    public = X25519PrivateKey.from_private_bytes(raw).public_key().public_bytes_raw()
    return AgeIdentity(
        recipient=bech32("age", public),
        identity=Secret(bech32("age-secret-key-", raw).upper()),
    )


def age_key_file(identity: AgeIdentity, created: datetime) -> Secret:
    """The text of `age.key`, line for line as `age-keygen` writes it."""
    moment = created.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return Secret(
        f"# created: {moment}\n# public key: {identity.recipient}\n{identity.identity.reveal()}\n"
    )
