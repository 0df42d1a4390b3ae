"""Certificates of API servers, and of those who administer clusters."""

from __future__ import annotations

import hashlib
import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from stockman.crypto.certificates import (
    CertificateRequest,
    Purpose,
    ValidityPeriod,
    issue_certificate,
)
from stockman.crypto.pem import CertificateAndKey
from stockman.model.secret import Secret

if TYPE_CHECKING:
    from collections.abc import Callable

    from stockman_lab.talos.config.effective_record import Effective
    from stockman_lab.talos.machine import Machine

_YEAR = timedelta(days=365)


def authority_of(config: Effective) -> CertificateAndKey:
    """The Kubernetes CA of a configuration."""
    return CertificateAndKey(crt=config.k8s_ca.crt, key=Secret(config.k8s_ca.key))


def serving_certificate(
    machine: Machine, config: Effective, random_bytes: Callable[[int], bytes]
) -> CertificateAndKey:
    """What the API server of a machine shows; `NotPem` where its CA cannot be read."""
    start = datetime.fromtimestamp(machine.land.certificates_from, UTC) - timedelta(hours=1)
    names, addresses = _names(machine, config)
    leaf = CertificateRequest(
        period=ValidityPeriod.lasting(start, _YEAR),
        purposes=(Purpose.SERVER,),
        organizations=("kube-master",),
        common_name="kube-apiserver",
        key_encipherment=True,
        dns_names=names,
        addresses=addresses,
    )
    return issue_certificate(authority_of(config), leaf, random_bytes)


def _names(
    machine: Machine, config: Effective
) -> tuple[tuple[str, ...], tuple[IPv4Address | IPv6Address, ...]]:
    setting = config.kubernetes
    service = "kubernetes.default.svc"
    rows = [
        urlsplit(config.endpoint).hostname or "",
        *("kubernetes", "kubernetes.default", service, f"{service}.{setting.dns_domain}"),
        *("localhost", machine.hostname),
        *setting.api_cert_sans,
        *("127.0.0.1", "::1"),
        *machine.addresses,
        machine.state.network.vip,
        *(str(ip_network(service_subnet)[1]) for service_subnet in setting.service_subnets),
    ]
    names: dict[str, None] = {}
    addresses: dict[IPv4Address | IPv6Address, None] = {}
    for one in filter(None, rows):
        try:
            addresses[ip_address(one)] = None
        except ValueError:
            names[one] = None
    return tuple(names), tuple(addresses)


def admin_certificate(
    config: Effective, now: datetime, random_bytes: Callable[[int], bytes]
) -> CertificateAndKey:
    """What somebody shows who may do everything."""
    leaf = CertificateRequest(
        period=ValidityPeriod.lasting(now.astimezone(UTC), _YEAR),
        purposes=(Purpose.CLIENT,),
        organizations=("system:masters",),
        common_name="admin",
        key_encipherment=True,
    )
    return issue_certificate(authority_of(config), leaf, random_bytes)


def server_context(shown: CertificateAndKey, authorities: str, scratch: Path) -> ssl.SSLContext:
    """TLS under a certificate; clients may show one of an authority.

    OpenSSL takes keys from files only: one lies in the directory for as long as that takes.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_RENEGOTIATION
    context.set_alpn_protocols(["http/1.1"])
    path = scratch / f"{hashlib.sha256(shown.crt.encode()).hexdigest()[:16]}.kube.pem"
    path.touch(mode=0o600)
    try:
        path.write_text(shown.key.reveal() + shown.crt, "ascii")
        context.load_cert_chain(path)
    finally:
        path.unlink()
    context.load_verify_locations(cadata=authorities)
    context.verify_mode = ssl.CERT_OPTIONAL
    return context
