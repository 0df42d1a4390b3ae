"""Who is behind a client certificate: its roles, or why it is not accepted."""

from __future__ import annotations

from functools import lru_cache

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
