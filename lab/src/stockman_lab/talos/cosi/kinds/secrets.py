"""The authority of the Talos API; for administrators only."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING

from stockman_lab.talos.cosi.facts import (
    certificate,
    certificate_and_key,
)
from stockman_lab.talos.cosi.registry import Contents, kind

if TYPE_CHECKING:
    from stockman_lab.talos.config.node_setting import Authority
    from stockman_lab.talos.machine import Machine


def _issuing(authority: Authority) -> dict[str, str] | None:
    """A CA that can sign. None: its key is not here."""
    return certificate_and_key(authority.crt, authority.key) if authority.key else None


def _accepted_authorities(own: Authority, more: tuple[str, ...]) -> list[dict[str, str]]:
    certificates = [certificate(one) for one in more]
    return [*certificates, certificate(own.crt)] if own.crt else certificates


@kind("OSRootSecrets.secrets.talos.dev", "secrets.RootOSController")
def os_root_secrets(machine: Machine) -> Contents:
    config = machine.config
    if config is None or config.is_partial:
        return {}
    names = [cert_san for cert_san in config.cert_sans if not _is_address(cert_san)]
    if config.features.talos_api_access:
        names += ["talos", "talos.default"]
    return {
        "os": {
            "issuingCA": _issuing(config.os_ca),
            "acceptedCAs": _accepted_authorities(config.os_ca, config.accepted_cas),
            "certSANIPs": [cert_san for cert_san in config.cert_sans if _is_address(cert_san)],
            "certSANDNSNames": names,
            "token": config.token,
        }
    }


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
