"""The secret part of private keys."""

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from stockman.crypto.key_material import secret_part
from stockman.crypto.private_keys import Algorithm, key_pem, new_key, standard_key_pem
from stockman.model.secret import Secret


@pytest.mark.parametrize("algorithm", [Algorithm.ED25519, Algorithm.ECDSA])
def test_a_key_has_the_same_secret_part_in_every_form(algorithm: Algorithm) -> None:
    key = new_key(algorithm)

    part = secret_part(key_pem(key))

    assert part is not None
    assert len(part) == 32
    assert secret_part(standard_key_pem(key)) == part


def test_the_form_of_openssh_holds_it_too() -> None:
    key = Ed25519PrivateKey.generate()
    ssh = key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()).decode()

    assert secret_part(Secret(ssh)) == key.private_bytes_raw()


@pytest.mark.parametrize(
    "text", ["", "no key", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"]
)
def test_what_is_no_key_has_none(text: str) -> None:
    assert secret_part(Secret(text)) is None
