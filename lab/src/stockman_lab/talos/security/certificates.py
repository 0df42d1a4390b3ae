"""Certificates that Talos machines show: for a day, and then others.

Keys and numbers follow from the bytes that are given. The time is that of who verifies: real
clients look at the real clock.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import IPv4Address, IPv6Address, ip_address

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

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
