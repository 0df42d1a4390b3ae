"""Keys of service accounts: both kinds sign, and know what they signed."""

from __future__ import annotations

import json

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
)
from stockman_lab.kube.access.account_keys import AccountKey, BadToken, decoded


def new_key(algorithm: str) -> AccountKey:
    generate_private_key = (
        rsa.generate_private_key(65537, 2048)
        if algorithm == "RS256"
        else ec.generate_private_key(ec.SECP256R1())
    )
    text = generate_private_key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return AccountKey(text.decode())


@pytest.mark.parametrize("algorithm", ["RS256", "ES256"])
def test_a_key_knows_its_tokens(algorithm: str) -> None:
    key = new_key(algorithm)

    token = key.signed({"sub": "somebody"})

    assert json.loads(decoded(token.split(".")[0])) == {"alg": algorithm, "kid": key.identity}
    assert key.claims(token) == {"sub": "somebody"}


@pytest.mark.parametrize("algorithm", ["RS256", "ES256"])
def test_tokens_of_another_key_are_refused(algorithm: str) -> None:
    token = new_key(algorithm).signed({"sub": "somebody"})

    for other in (new_key("RS256"), new_key("ES256")):
        with pytest.raises(BadToken):
            other.claims(token)


@pytest.mark.parametrize("text", ["", "a", "a.b", "e30.e30.", "W10.W10.AAAA", "e30.e30.####"])
def test_what_is_no_token_is_refused(text: str) -> None:
    with pytest.raises(BadToken):
        new_key("ES256").claims(text)
