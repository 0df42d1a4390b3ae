"""How machines speak TLS."""

from __future__ import annotations

import hashlib
import ssl
from functools import lru_cache
from pathlib import Path

from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID


class NotForClients(Exception):
    """A certificate that was made for something else."""


@lru_cache(maxsize=256)
def expires_at(certificate: bytes) -> float:
    """The moment at which a certificate (in DER) ends, in seconds since 1970."""
    return x509.load_der_x509_certificate(certificate).not_valid_after_utc.timestamp()


@lru_cache(maxsize=256)
def roles_in(certificate: bytes) -> frozenset[str]:
    """The roles that a certificate (in DER) gives; `NotForClients` where it may not be used so."""
    der_x509_certificate = x509.load_der_x509_certificate(certificate)
    try:
        usage = der_x509_certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    except (x509.ExtensionNotFound, ValueError):
        raise NotForClients from None
    if list(usage) != [ExtendedKeyUsageOID.CLIENT_AUTH]:
        raise NotForClients
    organizations = der_x509_certificate.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)
    return frozenset(str(organization.value) for organization in organizations)


_TALOS_LABEL = "ED25519 PRIVATE KEY"
_LABEL = "PRIVATE KEY"


def server_context(
    certificate: str, key: str, scratch: Path, client_authorities: str | None
) -> ssl.SSLContext:
    """TLS 1.2 and 1.3 under a certificate; clients need one too where authorities are given.

    OpenSSL takes keys from files only: one lies in the directory for as long as that takes.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_RENEGOTIATION
    context.set_alpn_protocols(["h2"])
    path = scratch / f"{hashlib.sha256(certificate.encode()).hexdigest()[:16]}.talos.pem"
    path.touch(mode=0o600)
    try:
        path.write_text(key.replace(_TALOS_LABEL, _LABEL) + certificate, "ascii")
        context.load_cert_chain(path)
    finally:
        path.unlink()
    if client_authorities is not None:
        context.load_verify_locations(cadata=client_authorities)
        context.verify_mode = ssl.CERT_REQUIRED
    return context
