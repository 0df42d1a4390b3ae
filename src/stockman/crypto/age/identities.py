"""Private keys of age, and the files that contain them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from stockman.crypto.age import problems
from stockman.crypto.age.recipients import CLASSIC_PREFIX, HYBRID_PREFIX
from stockman.crypto.bech32 import decode_bech32, encode_bech32
from stockman.model.secret import Secret

if TYPE_CHECKING:
    from stockman.crypto.age.header import Stanza
from datetime import UTC, datetime

from stockman.model.record import record

CLASSIC_IDENTITY = "AGE-SECRET-KEY-1"
HYBRID_IDENTITY = "AGE-SECRET-KEY-PQ-1"

_KEY_BYTES = 32


class AgeIdentity:
    """A private key. It prints as `***`; its public half is computed on demand."""

    def __init__(self, raw: bytes, *, post_quantum: bool) -> None:
        if len(raw) != _KEY_BYTES:
            raise ValueError(f"another length than {_KEY_BYTES} bytes")
        self._raw = raw
        self.is_post_quantum = post_quantum

    @property
    def raw(self) -> bytes:
        """The 32 secret bytes of the key."""
        return self._raw

    @cached_property
    def recipient(self) -> str:
        """Public key, `age1...` or `age1pq1...`."""
        if self.is_post_quantum:
            from stockman.crypto.age import hybrid

            return encode_bech32(HYBRID_PREFIX, hybrid.public_key(self._raw))
        from stockman.crypto.age import x25519

        return encode_bech32(CLASSIC_PREFIX, x25519.public_key(self._raw))

    @property
    def text(self) -> Secret:
        """Line of a key file."""
        prefix = HYBRID_IDENTITY if self.is_post_quantum else CLASSIC_IDENTITY
        return Secret(encode_bech32(prefix[:-1].lower(), self._raw).upper())

    def unwrap(self, stanza: Stanza, where: str) -> bytes | None:
        """Return the file key; None: the stanza is for another recipient."""
        if self.is_post_quantum:
            from stockman.crypto.age import hybrid

            return hybrid.unwrap(self._raw, stanza, where)
        from stockman.crypto.age import x25519

        return x25519.unwrap(self._raw, stanza, where)

    def __repr__(self) -> str:
        return "Identity(***)"


def parse_identities(
    text: str, where: str = "", *, several_per_line: bool = False
) -> tuple[AgeIdentity, ...]:
    """Return all identities of a key file in order; comments and empty lines are skipped."""
    identities: list[AgeIdentity] = []
    for number, line in enumerate(text.split("\n"), start=1):
        line = line.removesuffix("\r")
        if not line or line.startswith("#"):
            continue
        location = f"{where}:{number}" if where else f"line {number}"
        identities += [
            _parse_identity(key, location) for key in (line.split() if several_per_line else [line])
        ]
    if not identities:
        raise problems.bad_identity(where, "there is none in it")
    return tuple(identities)


def _parse_identity(line: str, where: str) -> AgeIdentity:
    post_quantum = line.startswith(HYBRID_IDENTITY)
    if not post_quantum and not line.startswith(CLASSIC_IDENTITY):
        kind = "one of a plugin" if line.startswith("AGE-PLUGIN-") else "of no known kind"
        raise problems.bad_identity(where, f"it is {kind}")
    try:
        prefix, raw = decode_bech32(line)
        if prefix != (HYBRID_IDENTITY if post_quantum else CLASSIC_IDENTITY)[:-1].lower():
            raise ValueError("a kind that is not known")
        return AgeIdentity(raw, post_quantum=post_quantum)
    except ValueError as error:
        raise problems.bad_identity(where, f"it has {error}") from None


IDENTITY_BYTES = 32
"""Number of random bytes for an identity."""


@record
class AgeKeyPair:
    """An identity and its recipient, both as text."""

    recipient: str
    """Public key, `age1...` or `age1pq1...`."""
    identity: Secret
    """Private key, `AGE-SECRET-KEY-1...` or `AGE-SECRET-KEY-PQ-1...`."""


def age_key_pair(raw: bytes, *, post_quantum: bool = False) -> AgeKeyPair:
    """Return the key pair of 32 random bytes."""
    key = AgeIdentity(raw, post_quantum=post_quantum)
    return AgeKeyPair(recipient=key.recipient, identity=key.text)


def render_age_key_file(identity: AgeKeyPair, created: datetime) -> Secret:
    """Return the text of `age.key` in the format of `age-keygen`."""
    moment = created.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return Secret(
        f"# created: {moment}\n# public key: {identity.recipient}\n{identity.identity.reveal()}\n"
    )
