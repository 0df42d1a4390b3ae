"""Public keys of age, `age1...` and `age1pq1...`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from stockman.crypto.age import problems
from stockman.crypto.age.header import CLASSIC_BYTES, HYBRID_PUBLIC_BYTES
from stockman.crypto.bech32 import decode_bech32
from stockman.model.record import record

if TYPE_CHECKING:
    from stockman.crypto.age.header import Stanza

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
