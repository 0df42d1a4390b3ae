"""Files for clients, made by the cluster itself."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Protocol

from stockman.model.names import MachineAddress
from stockman.model.secret import Secret


class Clients(Protocol):
    """Files that let somebody in; only machines of the control plane make them."""

    async def kubeconfig(self, node: MachineAddress) -> Secret:
        """A kubeconfig for an admin."""
        ...

    async def client_configuration(
        self, node: MachineAddress, roles: Iterable[str], lifetime: timedelta
    ) -> Secret:
        """A talosconfig with these roles; it has no endpoints."""
        ...
