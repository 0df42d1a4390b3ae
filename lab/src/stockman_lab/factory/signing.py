"""The keys that a factory signs with, made when somebody asks for them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.x509.oid import NameOID

from stockman_lab.factory.state import FactoryState

_CURVE = ec.SECP256R1()
_KEYS = 2**256 - 2**224
_LIFE = timedelta(days=3650)


def make_keys(state: FactoryState, now: float, random_bytes: Callable[[int], bytes]) -> None:
    """Give a factory a certificate for SecureBoot and a key for installers."""
    secure, cosign = _key(random_bytes), _key(random_bytes)
    start = datetime.fromtimestamp(int(now), UTC) - timedelta(days=1)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "SecureBoot signing key")])
    builder = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .not_valid_before(start)
        .not_valid_after(start + _LIFE)
        .serial_number(int.from_bytes(random_bytes(16), "big") or 1)
        .public_key(secure.public_key())
    )
    signed = builder.sign(secure, SHA256(), ecdsa_deterministic=True)
    state.signing_certificate = signed.public_bytes(Encoding.PEM).decode()
    public = cosign.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    state.signing_key = public.decode()


def _key(random_bytes: Callable[[int], bytes]) -> ec.EllipticCurvePrivateKey:
    return ec.derive_private_key(1 + int.from_bytes(random_bytes(40), "big") % _KEYS, _CURVE)
