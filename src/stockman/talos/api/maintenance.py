"""Calls on machines in maintenance."""

from __future__ import annotations

from uuid import UUID

from stockman.model.errors import Denied, NotFound
from stockman.ports.talos.configuration import Application, Applied
from stockman.ports.talos.disks import Disk
from stockman.ports.talos.machines import TalosVersion
from stockman.ports.talos.maintenance import Stranger
from stockman.ports.talos.network import Link
from stockman.talos.api.configuration import ConfigurationCalls
from stockman.talos.api.machines import MachineCalls
from stockman.talos.api.network import DiskCalls, NetworkCalls

_MAINTENANCE = "maintenance"


class MaintenanceCalls(MachineCalls, NetworkCalls, DiskCalls, ConfigurationCalls):
    """`ports.talos.maintenance.Maintenance` over a wire."""

    async def is_in_maintenance(self, at: Stranger) -> bool:
        try:
            status = await self._machine_status(at)
        except (Denied, NotFound):
            # Who asks for a certificate has a configuration; who has no stage yet still boots.
            return False
        return status.stage == _MAINTENANCE

    async def maintenance_version(self, at: Stranger) -> TalosVersion:
        return await self._version(at)

    async def maintenance_uuid(self, at: Stranger) -> UUID:
        return await self._system_uuid(at)

    async def maintenance_disks(self, at: Stranger) -> tuple[Disk, ...]:
        return await self._disks(at)

    async def maintenance_links(self, at: Stranger) -> tuple[Link, ...]:
        return await self._links(at)

    async def configure(self, at: Stranger, application: Application) -> Applied:
        return await self._applied(at, application)
