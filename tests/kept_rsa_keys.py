"""RSA keys that are handed out again: making one takes longer than most tests.

The first few are made as ever. After them comes the first one again, so that keys that are made
one after the other differ, as a test of a new key wants it.
"""

from __future__ import annotations

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key

_DIFFERENT = 3


class KeptRsaKeys:
    """Makes keys in place of `cryptography`."""

    def __init__(self) -> None:
        self._kept: dict[tuple[int, int], list[RSAPrivateKey]] = {}

    def __call__(self, public_exponent: int, key_size: int) -> RSAPrivateKey:
        """A key that differs from the one before."""
        kept = self._kept.setdefault((public_exponent, key_size), [])
        found = (
            kept.pop(0)
            if len(kept) == _DIFFERENT
            else generate_private_key(public_exponent, key_size)
        )
        kept.append(found)
        return found
