"""A cache of RSA keys: generating a key takes longer than most tests.

The first keys are generated. After them they are returned again in the same order, so that
consecutive keys differ, which tests of a new key need.
"""

from __future__ import annotations

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key

_KEYS_PER_SIZE = 3


class RsaKeyCache:
    """Returns keys in place of the function of `cryptography`."""

    def __init__(self) -> None:
        self._keys: dict[tuple[int, int], list[RSAPrivateKey]] = {}

    def __call__(self, public_exponent: int, key_size: int) -> RSAPrivateKey:
        """Return a key that differs from the previous one."""
        keys = self._keys.setdefault((public_exponent, key_size), [])
        is_full = len(keys) == _KEYS_PER_SIZE
        key = keys.pop(0) if is_full else generate_private_key(public_exponent, key_size)
        keys.append(key)
        return key
