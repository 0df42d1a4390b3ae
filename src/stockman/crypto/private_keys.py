"""Private keys in the PEM formats of Talos: Ed25519, ECDSA P-256 and RSA.

The generators of `cryptography` use the randomness of the system: an RSA key cannot be generated
from given bytes, and the other two follow the same rule.
"""

from __future__ import annotations

import math
from enum import Enum

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import (
    SECP256R1,
    EllipticCurvePrivateKey,
)
from cryptography.hazmat.primitives.asymmetric.ec import (
    generate_private_key as generate_ecdsa,
)
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key as generate_rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_der_private_key,
    load_ssh_private_key,
)

from stockman.crypto.pem import NotPem, encode_pem, first_block
from stockman.model.secret import Secret

PrivateKey = Ed25519PrivateKey | EllipticCurvePrivateKey | RSAPrivateKey

_RSA_BITS = 4096
_RSA_EXPONENT = 65537


class Algorithm(Enum):
    """Signature algorithm of a key."""

    ED25519 = "Ed25519"
    ECDSA = "ECDSA P-256"
    RSA = "RSA"


# The label of Ed25519 keys is Talos' own; other programs call the same bytes `PRIVATE KEY`.
_LABELS = {
    "ED25519 PRIVATE KEY": (Algorithm.ED25519,),
    "EC PRIVATE KEY": (Algorithm.ECDSA,),
    "RSA PRIVATE KEY": (Algorithm.RSA,),
    "PRIVATE KEY": tuple(Algorithm),
}


def generate_key(algorithm: Algorithm) -> PrivateKey:
    """Generate a key; RSA keys have 4096 bits."""
    match algorithm:
        case Algorithm.ED25519:
            return Ed25519PrivateKey.generate()
        case Algorithm.ECDSA:
            return generate_ecdsa(SECP256R1())
        case Algorithm.RSA:
            return generate_rsa(_RSA_EXPONENT, _RSA_BITS)


def algorithm_of(key: PrivateKey) -> Algorithm:
    """Return the algorithm of a key."""
    if isinstance(key, Ed25519PrivateKey):
        return Algorithm.ED25519
    return Algorithm.RSA if isinstance(key, RSAPrivateKey) else Algorithm.ECDSA


def key_pem(key: PrivateKey) -> Secret:
    """Encode a key as Talos does: PKCS#8 for Ed25519, SEC 1 for ECDSA, PKCS#1 for RSA."""
    if isinstance(key, Ed25519PrivateKey):
        label, form = "ED25519 PRIVATE KEY", PrivateFormat.PKCS8
    elif isinstance(key, RSAPrivateKey):
        label, form = "RSA PRIVATE KEY", PrivateFormat.TraditionalOpenSSL
    else:
        label, form = "EC PRIVATE KEY", PrivateFormat.TraditionalOpenSSL
    return Secret(encode_pem(label, key.private_bytes(Encoding.DER, form, NoEncryption())))


def standard_key_pem(key: PrivateKey) -> Secret:
    """Encode a key as PKCS#8 with the label `PRIVATE KEY`, for OpenSSL and Python."""
    der = key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
    return Secret(encode_pem("PRIVATE KEY", der))


def read_key(text: Secret) -> PrivateKey:
    """Parse a PEM key with any label that Talos accepts; raises `NotPem` if it is invalid."""
    block = first_block(text.reveal())
    allowed = _LABELS.get(block.label)
    if allowed is None:
        raise NotPem(f"a block {block.label} is none of {', '.join(_LABELS)}")
    try:
        # OpenSSL's own check of an RSA key takes a second; `_is_consistent` takes none.
        key = load_der_private_key(block.der, password=None, unsafe_skip_rsa_key_validation=True)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise NotPem(f"what stands inside of the block {block.label} is no such key") from None
    if not isinstance(key, PrivateKey) or algorithm_of(key) not in allowed:
        raise NotPem(f"what stands inside of the block {block.label} is another kind of key")
    if isinstance(key, RSAPrivateKey) and not _is_consistent(key):
        raise NotPem("the numbers of the RSA key do not belong together")
    return key


def public_bytes(key: PrivateKey) -> bytes:
    """Return the public half in the format used in certificates."""
    return key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


def _is_consistent(key: RSAPrivateKey) -> bool:
    """Return whether the numbers of an RSA key match; primality is not checked."""
    numbers = key.private_numbers()
    public = numbers.public_numbers
    order = math.lcm(numbers.p - 1, numbers.q - 1)
    fits = numbers.p * numbers.q == public.n and order > 0
    return fits and numbers.d * public.e % order == 1


_OPENSSH = "OPENSSH PRIVATE KEY"
_PRIME_BYTES = 96
"""Number of bytes that identify a large number."""


def private_key_bytes(text: Secret) -> bytes | None:
    """Return the bytes that all formats of a private key contain; None: not a known key.

    SEC 1, PKCS#1, PKCS#8 and OpenSSH store the same key with different surrounding bytes.
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
            return prime.to_bytes((prime.bit_length() + 7) // 8, "big")[:_PRIME_BYTES]
    return None


def _ssh_key(text: Secret) -> object:
    return load_ssh_private_key(text.reveal().encode(), password=None)
