"""Private keys in the forms of Talos."""

import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from stockman.crypto.pem import NotPem, encode_pem, first_block
from stockman.crypto.private_keys import (
    Algorithm,
    PrivateKey,
    algorithm_of,
    generate_key,
    key_pem,
    public_bytes,
    read_key,
    standard_key_pem,
)
from stockman.model.secret import Secret

SMALL_RSA = generate_private_key(65537, 2048)
KEYS: dict[str, PrivateKey] = {
    "ED25519 PRIVATE KEY": generate_key(Algorithm.ED25519),
    "EC PRIVATE KEY": generate_key(Algorithm.ECDSA),
    "RSA PRIVATE KEY": SMALL_RSA,
}


@pytest.mark.parametrize("label", KEYS)
def test_every_kind_of_key_has_the_label_of_talos_and_is_read_again(label: str) -> None:
    text = key_pem(KEYS[label])

    assert text.reveal().startswith(f"-----BEGIN {label}-----\n")
    assert public_bytes(read_key(text)) == public_bytes(KEYS[label])
    assert algorithm_of(read_key(text)) is algorithm_of(KEYS[label])


@pytest.mark.parametrize("label", KEYS)
def test_every_kind_of_key_is_read_under_the_standard_label_too(label: str) -> None:
    text = standard_key_pem(KEYS[label])

    load_pem_private_key(text.reveal().encode(), password=None)
    assert public_bytes(read_key(text)) == public_bytes(KEYS[label])


def test_an_ed25519_key_needs_its_label_changed_before_others_read_it() -> None:
    text = key_pem(KEYS["ED25519 PRIVATE KEY"]).reveal()

    renamed = text.replace("ED25519 PRIVATE KEY", "PRIVATE KEY").encode()

    load_pem_private_key(renamed, password=None)
    with pytest.raises(ValueError, match="PEM"):
        load_pem_private_key(text.encode(), password=None)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (encode_pem("DSA PRIVATE KEY", b""), "none of"),
        (encode_pem("EC PRIVATE KEY", b"abc"), "no such key"),
        (key_pem(SMALL_RSA).reveal().replace("RSA", "EC"), "another kind of key|no such key"),
        (
            key_pem(generate_key(Algorithm.ECDSA)).reveal().replace("EC ", "ED25519 "),
            "another kind",
        ),
    ],
)
def test_what_is_no_key_is_refused_with_a_reason(text: str, why: str) -> None:
    with pytest.raises(NotPem, match=why):
        read_key(Secret(text))


def test_an_rsa_key_whose_numbers_do_not_fit_is_refused() -> None:
    der = bytearray(first_block(key_pem(SMALL_RSA).reveal()).der)
    der[60] ^= 1

    with pytest.raises(NotPem, match=r"do not belong together|no such key"):
        read_key(Secret(encode_pem("RSA PRIVATE KEY", bytes(der))))
