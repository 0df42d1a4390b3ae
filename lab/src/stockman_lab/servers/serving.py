"""A world that is served: every host answers on its own address."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from stockman_lab.servers.context import ServingContext
from stockman_lab.servers.hosts import HostServers
from stockman_lab.servers.machines import MachineServers
from stockman_lab.servers.options import ServingOptions
from stockman_lab.servers.pace import Pace
from stockman_lab.servers.services import ServiceServers
from stockman_lab.world.world import World

if TYPE_CHECKING:
    from stockman_lab.images.fetching import Fetched, FetchFailed, QueryFailed


class LoopbackOutside:
    """Fetches from addresses of this machine, and from no other."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[None]] = set()
        self.pace: Pace | None = None
        """Told to go on whenever something came. None: not served yet."""

    def fetch(
        self, url: str, path: str, *, verify: bool, done: Callable[[Fetched | FetchFailed], None]
    ) -> None:
        """Fetch what a URL leads to."""
        self._begin(self._fetch(url, path, verify, done))

    def metadata(
        self, url: str, *, verify: bool, done: Callable[[dict[str, object] | QueryFailed], None]
    ) -> None:
        """Ask what a URL leads to."""
        self._begin(self._query_metadata(url, verify, done))

    async def stop(self) -> None:
        """Give up what is on its way."""
        for task in self._running:
            task.cancel()
        if self._running:
            await asyncio.wait(self._running)

    def _begin(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.ensure_future(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _fetch(
        self, url: str, path: str, verify: bool, done: Callable[[Fetched | FetchFailed], None]
    ) -> None:
        from stockman_lab.images.fetching import Fetcher, FetchFailed

        moment = datetime.fromtimestamp(self._now(), UTC)
        try:
            found: Fetched | FetchFailed = await Fetcher().fetch(url, path, moment, verify=verify)
        except FetchFailed as failed:
            found = failed
        done(found)
        if self.pace is not None:
            self.pace.go_on()

    async def _query_metadata(
        self, url: str, verify: bool, done: Callable[[dict[str, object] | QueryFailed], None]
    ) -> None:
        from stockman_lab.images.fetching import Fetcher, QueryFailed

        try:
            done(await Fetcher().metadata(url, verify=verify))
        except QueryFailed as failed:
            done(failed)

    def _now(self) -> float:
        return self.pace.now if self.pace is not None else 0.0


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
