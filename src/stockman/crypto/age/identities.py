"""Public and private keys of age, and the files that contain them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING

from stockman.crypto.age import problems
from stockman.crypto.age.header import CLASSIC_BYTES, HYBRID_PUBLIC_BYTES
from stockman.crypto.bech32 import decode_bech32, encode_bech32
from stockman.model.record import record
from stockman.model.secret import Secret

if TYPE_CHECKING:
    from stockman.crypto.age.header import Stanza


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


CLASSIC_PREFIX = "age"
HYBRID_PREFIX = "age1pq"


@record
class Recipient:
    """A public key to encrypt files for."""

    text: str
    public: bytes

    @property
    def is_post_quantum(self) -> bool:
        return len(self.public) == HYBRID_PUBLIC_BYTES

    def wrap(self, file_key: bytes, random_bytes: Callable[[int], bytes]) -> Stanza:
        """Wrap a file key for this recipient."""
        if not self.is_post_quantum:
            from stockman.crypto.age import x25519

            return x25519.wrap(self.public, file_key, random_bytes)
        from stockman.crypto.age import hybrid

        try:
            return hybrid.wrap(self.public, file_key)
        except ValueError:
            raise problems.bad_recipient(
                "", _shorten(self.text), "its post-quantum half is no key"
            ) from None


def parse_recipient(text: str, where: str = "") -> Recipient:
    """Parse a public key; refuses SSH keys, plugins and private keys."""
    if not text.startswith("age1"):
        if text.upper().startswith("AGE-SECRET-KEY-"):
            raise problems.bad_recipient(where, "a private key", "it opens files, and is secret")
        why = "only `age1...` and `age1pq1...` are; SSH keys and plugins are left to age itself"
        raise problems.bad_recipient(where, _shorten(text), why)
    try:
        prefix, public = decode_bech32(text)
    except ValueError as error:
        raise problems.bad_recipient(where, _shorten(text), f"it has {error}") from None
    size = {CLASSIC_PREFIX: CLASSIC_BYTES, HYBRID_PREFIX: HYBRID_PUBLIC_BYTES}.get(prefix)
    if size is None:
        why = f"its kind {prefix!r} belongs to a plugin"
        raise problems.bad_recipient(where, _shorten(text), why)
    if len(public) != size:
        why = f"it holds {len(public)} bytes, and a key of its kind has {size}"
        raise problems.bad_recipient(where, _shorten(text), why)
    return Recipient(text=text, public=public)


def _shorten(text: str) -> str:
    """Return a public key, shortened: post-quantum keys have 1,959 characters."""
    return repr(text if len(text) <= 64 else f"{text[:24]}...{text[-8:]}")
