"""The part of a private key that is secret, whatever is written around it."""

from __future__ import annotations

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import load_ssh_private_key

from stockman.crypto.pem import NotPem, first_block
from stockman.crypto.private_keys import read_key
from stockman.model.secret import Secret

_OPENSSH = "OPENSSH PRIVATE KEY"
_LONGEST = 96
"""Bytes of a large number that are enough to know it by."""


def secret_part(text: Secret) -> bytes | None:
    """The bytes that every form of a private key holds; None: it is no key that is known.

    The same key has other bytes around them in SEC 1, PKCS#1, PKCS#8 and the form of OpenSSH.
    """
    try:
        key = _ssh_key(text) if first_block(text.reveal()).label == _OPENSSH else read_key(text)
    except (NotPem, UnsupportedAlgorithm, ValueError, TypeError):
        return None
    match key:
        case Ed25519PrivateKey():
            return key.private_bytes_raw()
        case EllipticCurvePrivateKey():
            size = (key.curve.key_size + 7) // 8
            return key.private_numbers().private_value.to_bytes(size, "big")
        case RSAPrivateKey():
            prime = key.private_numbers().p
            return prime.to_bytes((prime.bit_length() + 7) // 8, "big")[:_LONGEST]
    return None


def _ssh_key(text: Secret) -> object:
    return load_ssh_private_key(text.reveal().encode(), password=None)
