"""Private keys in the PEM formats of Talos (Ed25519, ECDSA P-256, RSA), and in those of OpenSSH.

The generators of `cryptography` use the randomness of the system: an RSA key cannot be generated
from given bytes, and the other two follow the same rule."""

from __future__ import annotations

import base64
import binascii
import math
import struct
import textwrap
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


SSH_SEED_BYTES = 32
"""Number of random bytes for a key."""
CHECK_BYTES = 4
"""Number of additional random bytes, which a private key file contains twice to detect a wrong
passphrase."""

_KIND = b"ssh-ed25519"
_MAGIC = b"openssh-key-v1\0"
_BEGIN = "-----BEGIN OPENSSH PRIVATE KEY-----"
_END = "-----END OPENSSH PRIVATE KEY-----"
_BLOCK_BYTES = 8
_LINE_LENGTH = 70


def ssh_private_key(raw: bytes, check: bytes, comment: str) -> Secret:
    """Return the text of a private key file; `raw` is the seed, `check` are four more random
    bytes."""
    public = Ed25519PrivateKey.from_private_bytes(raw).public_key().public_bytes_raw()
    blob = _string(_KIND) + _string(public)
    secret = check + check + blob + _string(raw + public) + _string(comment.encode())
    padded = secret + bytes(range(1, 1 + -len(secret) % _BLOCK_BYTES))
    body = (
        _MAGIC
        + _string(b"none")  # cipher
        + _string(b"none")  # key derivation
        + _string(b"")  # and its options
        + struct.pack(">I", 1)  # number of keys
        + _string(blob)
        + _string(padded)
    )
    lines = textwrap.wrap(base64.b64encode(body).decode("ascii"), _LINE_LENGTH)
    return Secret("\n".join([_BEGIN, *lines, _END, ""]))


def ssh_public_key(private: Secret, comment: str) -> str | None:
    """Return the text of the `.pub` file of a private key file; None: not an Ed25519 key.

    OpenSSH stores the public key unencrypted, so this works for keys with a passphrase too.
    """
    text = "".join(private.reveal().split("\n"))
    if not (text.startswith(_BEGIN) and text.endswith(_END)):
        return None
    try:
        body = base64.b64decode(text.removeprefix(_BEGIN).removesuffix(_END), validate=True)
        blob = _public_blob(body)
    except (binascii.Error, struct.error):
        return None
    return _public_line(blob, comment) if blob.startswith(_string(_KIND)) else None


def _public_blob(body: bytes) -> bytes:
    if not body.startswith(_MAGIC):
        return b""
    remaining = body.removeprefix(_MAGIC)
    for _ in ("cipher", "key derivation", "its options"):
        _, remaining = _split_string(remaining)
    (count,) = struct.unpack(">I", remaining[:4])
    blob, _ = _split_string(remaining[4:])
    return blob if count == 1 else b""


def _split_string(data: bytes) -> tuple[bytes, bytes]:
    (length,) = struct.unpack(">I", data[:4])
    return data[4 : 4 + length], data[4 + length :]


def _string(data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + data


def _public_line(blob: bytes, comment: str) -> str:
    return f"{_KIND.decode()} {base64.b64encode(blob).decode('ascii')} {comment}\n"
