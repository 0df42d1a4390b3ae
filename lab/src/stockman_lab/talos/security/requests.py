"""Certificates for who asks with a request of its own: for servers, and for nothing else."""

from __future__ import annotations

import hashlib
from datetime import datetime

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from stockman.crypto.certificates import read_certificate
from stockman.crypto.private_keys import read_key
from stockman.model.secret import Secret
from stockman_lab.talos.security.certificates import DAY

_BEGIN = b"-----BEGIN CERTIFICATE REQUEST-----"


class BadRequest(Exception):
    """A request that cannot be read."""


def signed(authority: str, key: str, request: bytes, now: datetime) -> str:
    """A certificate in PEM for what a request in PEM names, without its organizations."""
    if _BEGIN not in request:
        raise BadRequest("failed to decode CSR")
    try:
        pem_x509_csr = x509.load_pem_x509_csr(request)
        wanted = pem_x509_csr.subject, pem_x509_csr.public_key()
    except ValueError:
        raise BadRequest("failed to parse CSR: x509: malformed certificate request") from None
    subject, public = wanted
    parent, signer = read_certificate(authority), read_key(Secret(key))
    start = now.replace(microsecond=0)
    builder = (
        x509.CertificateBuilder()
        .subject_name(
            x509.Name([part for part in subject if part.oid != NameOID.ORGANIZATION_NAME])
        )
        .issuer_name(parent.subject)
        .public_key(public)
        .serial_number(int.from_bytes(hashlib.sha256(request).digest()[:15], "big") or 1)
        .not_valid_before(start)
        .not_valid_after(start + DAY)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
    )
    for extension in pem_x509_csr.extensions:
        if isinstance(extension.value, x509.SubjectAlternativeName):
            builder = builder.add_extension(extension.value, critical=extension.critical)
    if isinstance(signer, RSAPrivateKey):
        raise BadRequest("failed to sign CSR: the authority is of another kind")
    digest = None if isinstance(signer, Ed25519PrivateKey) else SHA256()
    return builder.sign(signer, digest).public_bytes(Encoding.PEM).decode("ascii")
