"""A world that is served: every host answers on its own address."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from stockman_lab.servers.context import ServingContext
from stockman_lab.servers.hosts import HostServers
from stockman_lab.servers.machines import MachineServers
from stockman_lab.servers.options import ServingOptions
from stockman_lab.servers.outside import LoopbackOutside
from stockman_lab.servers.pace import Pace
from stockman_lab.servers.services import ServiceServers
from stockman_lab.world.world import World


class Serving:
    """The doors of one world while they are open."""

    def __init__(self, world: World, manner: ServingOptions, scratch: Path, now: datetime) -> None:
        self.world = world
        self._premises = ServingContext(world, manner, scratch, now)
        self.hosts = HostServers(self._premises)
        self.services = ServiceServers(self._premises)
        self.machines = MachineServers(self._premises)
        self.log = self._premises.log
        self._outside = LoopbackOutside()

    @property
    def pace(self) -> Pace:
        return self._premises.pace

    async def start(self) -> None:
        """Open all doors; raises `PortTaken`, and leaves none open then."""
        pace = Pace(self.world, self._premises.manner.speed)
        self._premises.running = self._outside.pace = pace
        self.world.around.outside = self._outside
        try:
            await self.hosts.open()
            await self.services.open()
            self.machines.open()
        except BaseException:
            await self.stop()
            raise
        pace.go_on()

    async def stop(self) -> None:
        """Close all doors; the world stands still."""
        if self._premises.running is not None:
            self._premises.running.catch_up()
            self._premises.running.stop()
        await self.hosts.stop()
        self.machines.stop()
        await self.services.stop()
        await self._outside.stop()
