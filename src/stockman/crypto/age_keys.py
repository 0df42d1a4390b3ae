"""New identities of age, and the file that `age-keygen` writes for one."""

from __future__ import annotations

from datetime import UTC, datetime

from stockman.crypto.age.identities import Identity
from stockman.model.record import record
from stockman.model.secret import Secret

RAW_BYTES = 32
"""How many random bytes an identity is made of."""


@record
class AgeIdentity:
    """A key that opens what was encrypted for its recipient."""

    recipient: str
    """Public half, `age1...` or `age1pq1...`."""
    identity: Secret
    """Private half, `AGE-SECRET-KEY-1...` or `AGE-SECRET-KEY-PQ-1...`."""


def age_identity(raw: bytes, *, post_quantum: bool = False) -> AgeIdentity:
    """The identity that 32 random bytes make."""
    made = Identity(raw, post_quantum=post_quantum)
    return AgeIdentity(recipient=made.recipient, identity=made.text)


def age_key_file(identity: AgeIdentity, created: datetime) -> Secret:
    """The text of `age.key`, line for line as `age-keygen` writes it."""
    moment = created.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return Secret(
        f"# created: {moment}\n# public key: {identity.recipient}\n{identity.identity.reveal()}\n"
    )
