"""Private keys of age, and the files that hold them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from stockman.crypto.age import problems
from stockman.crypto.age.recipients import CLASSIC_PREFIX, HYBRID_PREFIX
from stockman.crypto.bech32 import bech32, bech32_data
from stockman.model.secret import Secret

if TYPE_CHECKING:
    from stockman.crypto.age.header import Stanza

CLASSIC_IDENTITY = "AGE-SECRET-KEY-1"
HYBRID_IDENTITY = "AGE-SECRET-KEY-PQ-1"

_KEY_BYTES = 32


class Identity:
    """A private key. It prints as `***`, and its public half is computed only when asked for."""

    def __init__(self, raw: bytes, *, post_quantum: bool) -> None:
        if len(raw) != _KEY_BYTES:
            raise ValueError(f"another length than {_KEY_BYTES} bytes")
        self._raw = raw
        self.is_post_quantum = post_quantum

    @property
    def raw(self) -> bytes:
        """The 32 bytes that the key is made of: a secret."""
        return self._raw

    @cached_property
    def recipient(self) -> str:
        """The public half, `age1...` or `age1pq1...`."""
        if self.is_post_quantum:
            from stockman.crypto.age import hybrid

            return bech32(HYBRID_PREFIX, hybrid.public_key(self._raw))
        from stockman.crypto.age import x25519

        return bech32(CLASSIC_PREFIX, x25519.public_key(self._raw))

    @property
    def text(self) -> Secret:
        """The line of a key file."""
        prefix = HYBRID_IDENTITY if self.is_post_quantum else CLASSIC_IDENTITY
        return Secret(bech32(prefix[:-1].lower(), self._raw).upper())

    def unwrap(self, stanza: Stanza, where: str) -> bytes | None:
        """The file key; None: the stanza is for somebody else."""
        if self.is_post_quantum:
            from stockman.crypto.age import hybrid

            return hybrid.unwrap(self._raw, stanza, where)
        from stockman.crypto.age import x25519

        return x25519.unwrap(self._raw, stanza, where)

    def __repr__(self) -> str:
        return "Identity(***)"


def parse_identities(
    text: str, where: str = "", *, several_per_line: bool = False
) -> tuple[Identity, ...]:
    """Every identity of a key file, in order; comments and empty lines are skipped."""
    found: list[Identity] = []
    for number, line in enumerate(text.split("\n"), start=1):
        line = line.removesuffix("\r")
        if not line or line.startswith("#"):
            continue
        place = f"{where}:{number}" if where else f"line {number}"
        found += [_identity(one, place) for one in (line.split() if several_per_line else [line])]
    if not found:
        raise problems.bad_identity(where, "there is none in it")
    return tuple(found)


def _identity(line: str, where: str) -> Identity:
    post_quantum = line.startswith(HYBRID_IDENTITY)
    if not post_quantum and not line.startswith(CLASSIC_IDENTITY):
        kind = "one of a plugin" if line.startswith("AGE-PLUGIN-") else "of no known kind"
        raise problems.bad_identity(where, f"it is {kind}")
    try:
        prefix, raw = bech32_data(line)
        if prefix != (HYBRID_IDENTITY if post_quantum else CLASSIC_IDENTITY)[:-1].lower():
            raise ValueError("a kind that is not known")
        return Identity(raw, post_quantum=post_quantum)
    except ValueError as error:
        raise problems.bad_identity(where, f"it has {error}") from None
