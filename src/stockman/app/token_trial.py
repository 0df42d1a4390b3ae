"""Tokens that were just made, tried with a call of their own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from stockman.app.proxmox_doors import open_proxmox
from stockman.model.secret import Secret
from stockman.ports.clock import Timekeeper
from stockman.ports.proxmox.access import Privileges

if TYPE_CHECKING:
    from stockman.adapters.http_proxmox.endpoint import Endpoints


class TriedTokens:
    """`steps.access_trial.TokenTrial` over the addresses of Proxmox clusters."""

    def __init__(self, endpoints: Mapping[str, Endpoints], clock: Timekeeper) -> None:
        self._endpoints = endpoints
        """By region, as `proxmox_endpoints` makes them."""
        self._clock = clock

    async def privileges(
        self, cluster: str, token: str, secret: Secret, paths: Iterable[str]
    ) -> Privileges:
        async with open_proxmox(self._endpoints[cluster], token, secret, self._clock) as door:
            return {path: (await door.permissions(path)).get(path, frozenset()) for path in paths}
