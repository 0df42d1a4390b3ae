"""Doors to the Proxmox clusters that a configuration names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from stockman.model.errors import Refused
from stockman.model.problem import Problem
from stockman.model.proxmox import ProxmoxCluster
from stockman.model.proxmox_token import token_and_secret
from stockman.model.secret import Secret
from stockman.ports.clock import Timekeeper
from stockman.ports.probe import Trust

if TYPE_CHECKING:
    from stockman.adapters.http_proxmox.door import HttpProxmox
    from stockman.adapters.http_proxmox.endpoint import Endpoints, Timeouts


def proxmox_endpoints(
    cluster: ProxmoxCluster,
    connect: Mapping[str, str],
    ca: bytes | None,
    timeouts: Timeouts | None = None,
) -> Endpoints:
    """Where a cluster answers and how its certificate is judged; `ca` is what its file holds."""
    from stockman.adapters.http_proxmox.endpoint import Endpoints, Timeouts

    first = (cluster.endpoint,) if cluster.endpoint is not None else ()
    return Endpoints(
        urls=(*first, *cluster.endpoints),
        trust=Trust(ca=ca, fingerprint=cluster.tls.fingerprint),
        connect=connect,
        timeouts=timeouts or Timeouts(),
    )


def authority_of(cluster: ProxmoxCluster, directory: Path) -> bytes | None:
    """What the file of a cluster's CA holds; `Refused` where it cannot be read. None: no file."""
    name = cluster.tls.ca_file
    if name is None:
        return None
    try:
        return (directory / name).read_bytes()
    except OSError as error:
        raise Refused(unreadable_authority(name, error)) from None


def unreadable_authority(name: str, error: OSError) -> Problem:
    return Problem(
        code="proxmox.authority",
        what="the CA of Proxmox VE cannot be read",
        where=f"{name} (proxmox.tls.ca_file)",
        why=error.strerror or type(error).__name__,
        fix="put the certificate there that hosts have as /etc/pve/pve-root-ca.pem",
    )


def open_proxmox(
    endpoints: Endpoints, token_id: str, secret: Secret, clock: Timekeeper
) -> HttpProxmox:
    """A door that is to be closed after use; a secret may name its token itself."""
    from stockman.adapters.http_proxmox.credentials import ApiToken
    from stockman.adapters.http_proxmox.door import HttpProxmox

    found, alone = token_and_secret(token_id, secret)
    return HttpProxmox(endpoints, ApiToken(id=found, secret=alone), clock)
