"""The secret part of private keys."""

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from stockman.crypto.private_keys import (
    Algorithm,
    generate_key,
    key_pem,
    private_key_bytes,
    standard_key_pem,
)
from stockman.model.secret import Secret


@pytest.mark.parametrize("algorithm", [Algorithm.ED25519, Algorithm.ECDSA])
def test_a_key_has_the_same_secret_part_in_every_form(algorithm: Algorithm) -> None:
    key = generate_key(algorithm)

    part = private_key_bytes(key_pem(key))

    assert part is not None
    assert len(part) == 32
    assert private_key_bytes(standard_key_pem(key)) == part


def test_the_form_of_openssh_holds_it_too() -> None:
    key = Ed25519PrivateKey.generate()
    ssh = key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()).decode()

    assert private_key_bytes(Secret(ssh)) == key.private_bytes_raw()


@pytest.mark.parametrize(
    "text", ["", "no key", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"]
)
def test_what_is_no_key_has_none(text: str) -> None:
    assert private_key_bytes(Secret(text)) is None
