"""What control planes allow to pods, and the talosconfigs that they make for them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from stockman_lab.kube.nodes.talos_access import Access

if TYPE_CHECKING:
    from stockman_lab.talos.machine import Machine

_LIFETIME = timedelta(hours=6)


def access_of(machine: Machine) -> Access | None:
    """What the configuration of a machine allows. None: nothing."""
    config = machine.config
    if config is None or not config.features.talos_api_access or not config.os_ca.key:
        return None
    features = config.features
    return Access(
        features.talos_api_roles,
        features.talos_api_namespaces,
        lambda roles: _talosconfig(machine, roles),
    )


def _talosconfig(machine: Machine, roles: list[str]) -> str:
    from stockman.crypto.certificates import (
        CertificateRequest,
        Purpose,
        ValidityPeriod,
        issue_certificate,
    )
    from stockman.crypto.pem import CertificateAndKey
    from stockman.model.secret import Secret
    from stockman.talos.credentials.talosconfig import Talosconfig, client_context, talosconfig_text

    config = machine.config
    if config is None:
        return ""
    start = datetime.fromtimestamp(machine.land.certificates_from, UTC)
    leaf = CertificateRequest(
        period=ValidityPeriod.lasting(start, _LIFETIME),
        purposes=(Purpose.CLIENT,),
        organizations=tuple(roles),
    )
    authority = CertificateAndKey(crt=config.os_ca.crt, key=Secret(config.os_ca.key))
    client = issue_certificate(authority, leaf, machine.land.around.dice.random_bytes)
    context = client_context(config.os_ca.crt, client, endpoints=("talos.default",))
    return talosconfig_text(Talosconfig(context="default", contexts={"default": context})).reveal()
