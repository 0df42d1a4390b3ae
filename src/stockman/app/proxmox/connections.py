"""Open clients of the configured Proxmox clusters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from stockman.model.errors import Refused
from stockman.model.problem import Problem
from stockman.model.proxmox import ProxmoxCluster
from stockman.model.proxmox_values import split_token
from stockman.model.secret import Secret
from stockman.ports.environment import Trust
from stockman.ports.system import Timekeeper
from stockman.proxmox.access import Privileges

if TYPE_CHECKING:
    from stockman.adapters.proxmox.endpoint import Endpoints, HttpTimeouts
    from stockman.adapters.proxmox.transport import HttpProxmox


def proxmox_endpoints(
    cluster: ProxmoxCluster,
    connect: Mapping[str, str],
    ca: bytes | None,
    timeouts: HttpTimeouts | None = None,
) -> Endpoints:
    """Return a cluster's endpoints and how to verify them; `ca` is the content of its CA file."""
    from stockman.adapters.proxmox.endpoint import Endpoints, HttpTimeouts

    first = (cluster.endpoint,) if cluster.endpoint is not None else ()
    return Endpoints(
        urls=(*first, *cluster.endpoints),
        trust=Trust(ca=ca, fingerprint=cluster.tls.fingerprint),
        connect=connect,
        timeouts=timeouts or HttpTimeouts(),
    )


def authority_of(cluster: ProxmoxCluster, directory: Path) -> bytes | None:
    """Return the content of a cluster's CA file. Raises `Refused` if it cannot be read. None: no
    file."""
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
    """Open a client, which must be closed after use; the secret may include the token ID."""
    from stockman.adapters.proxmox.credentials import ApiToken
    from stockman.adapters.proxmox.transport import HttpProxmox

    token, alone = split_token(token_id, secret)
    return HttpProxmox(endpoints, ApiToken(id=token, secret=alone), clock)


class HttpTokenTest:
    """Implements `TokenTest` with HTTP calls to the Proxmox clusters."""

    def __init__(self, endpoints: Mapping[str, Endpoints], clock: Timekeeper) -> None:
        self._endpoints = endpoints
        """By region, as `proxmox_endpoints` makes them."""
        self._clock = clock

    async def privileges(
        self, cluster: str, token: str, secret: Secret, paths: Iterable[str]
    ) -> Privileges:
        async with open_proxmox(self._endpoints[cluster], token, secret, self._clock) as client:
            return {path: (await client.permissions(path)).get(path, frozenset()) for path in paths}
