"""Doors to the Proxmox clusters that a configuration names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

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


def open_proxmox(
    endpoints: Endpoints, token_id: str, secret: Secret, clock: Timekeeper
) -> HttpProxmox:
    """A door that is to be closed after use; a secret may name its token itself."""
    from stockman.adapters.http_proxmox.credentials import ApiToken
    from stockman.adapters.http_proxmox.door import HttpProxmox

    found, alone = token_and_secret(token_id, secret)
    return HttpProxmox(endpoints, ApiToken(id=found, secret=alone), clock)
