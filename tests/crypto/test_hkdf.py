"""Keys are those of RFC 5869, as the cryptographic library derives them."""

from __future__ import annotations

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from stockman.crypto.hkdf import derive_key


@pytest.mark.parametrize("salt", [None, b"", b"hay", bytes(100)])
@pytest.mark.parametrize("secret", [b"", b"wool", bytes(range(200))])
@pytest.mark.parametrize("purpose", [b"", b"seal", bytes(300)])
def test_a_key_is_that_of_the_library(salt: bytes | None, secret: bytes, purpose: bytes) -> None:
    library = HKDF(algorithm=hashes.SHA256(), length=32, salt=salt, info=purpose)
    assert derive_key(secret, salt, purpose) == library.derive(secret)


def test_the_first_vector_of_the_standard_is_met() -> None:
    key = derive_key(bytes([0x0B]) * 22, bytes(range(13)), bytes(range(0xF0, 0xFA)))
    assert key.hex() == "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf"
