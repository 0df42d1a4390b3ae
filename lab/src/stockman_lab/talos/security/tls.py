"""How machines speak TLS."""

from __future__ import annotations

import hashlib
import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from stockman.crypto.certificates import (
    CertificateRequest,
    Purpose,
    ValidityPeriod,
    create_authority,
    issue_certificate,
)
from stockman.crypto.pem import CertificateAndKey
from stockman.crypto.private_keys import Algorithm, algorithm_of, read_key

RandomBytes = Callable[[int], bytes]

DAY = timedelta(hours=24)
_ED25519_BYTES = 32
_MAINTENANCE = "maintenance-service.talos.dev"
_ALLOWED_SKEW = timedelta(hours=1)
"""A machine's clock may be ahead of its client's."""


@dataclass(frozen=True, slots=True)
class Names:
    """For what a certificate holds."""

    common_name: str
    dns: Sequence[str] = ()
    addresses: Sequence[str] = ()


def server_certificate(
    authority: CertificateAndKey, names: Names, now: datetime, random_bytes: RandomBytes
) -> CertificateAndKey:
    """The certificate of a machine's API under the authority of its cluster."""
    leaf = CertificateRequest(
        period=ValidityPeriod.lasting(now - _ALLOWED_SKEW, DAY + _ALLOWED_SKEW),
        purposes=(Purpose.SERVER,),
        common_name=names.common_name,
        dns_names=tuple(dict.fromkeys(names.dns)),
        addresses=_addresses(names.addresses),
    )
    key = None
    if algorithm_of(read_key(authority.key)) is Algorithm.ED25519:
        key = Ed25519PrivateKey.from_private_bytes(random_bytes(_ED25519_BYTES))
    return issue_certificate(authority, leaf, random_bytes, key)


def maintenance_certificate(
    addresses: Sequence[str], now: datetime, random_bytes: RandomBytes
) -> CertificateAndKey:
    """The certificate of a machine without a configuration, under an authority of no use."""
    period = ValidityPeriod.lasting(now - _ALLOWED_SKEW, DAY + _ALLOWED_SKEW)
    authority = create_authority("talos", Algorithm.ED25519, period, random_bytes)
    names = Names(_MAINTENANCE, (_MAINTENANCE,), addresses)
    return server_certificate(authority, names, now, random_bytes)


def _addresses(texts: Sequence[str]) -> tuple[IPv4Address | IPv6Address, ...]:
    return tuple(dict.fromkeys(ip_address(text) for text in texts))


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
