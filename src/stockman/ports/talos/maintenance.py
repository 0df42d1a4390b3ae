"""Machines without a configuration: anybody may ask them, and nobody vouches for them."""

from __future__ import annotations

from typing import Protocol
from uuid import UUID

from stockman.model.names import MachineAddress
from stockman.model.record import record
from stockman.ports.talos.configuration import Application, Applied
from stockman.ports.talos.disks import Disk
from stockman.ports.talos.machines import TalosVersion
from stockman.ports.talos.network import Link


@record
class Stranger:
    """A machine in maintenance."""

    address: MachineAddress
    fingerprint: str = ""
    """SHA-256 of its public key, as its console and `talosctl` show it. Empty: whoever answers."""


class Maintenance(Protocol):
    """Calls without a certificate of ours; `Refused` where the fingerprint is another one."""

    async def is_in_maintenance(self, at: Stranger) -> bool:
        """Whether a machine waits for its configuration; False: it has one, or is still booting."""
        ...

    async def maintenance_version(self, at: Stranger) -> TalosVersion:
        """Which Talos waits. `Unsupported` before Talos 1.13."""
        ...

    async def maintenance_uuid(self, at: Stranger) -> UUID:
        """The UUID that its firmware tells: that of its VM."""
        ...

    async def maintenance_disks(self, at: Stranger) -> tuple[Disk, ...]:
        """Its disks and drives."""
        ...

    async def maintenance_links(self, at: Stranger) -> tuple[Link, ...]:
        """Its links."""
        ...

    async def configure(self, at: Stranger, application: Application) -> Applied:
        """Give it its first configuration.

        All secrets of the cluster are in it: without a fingerprint whoever answers gets them.
        """
        ...
