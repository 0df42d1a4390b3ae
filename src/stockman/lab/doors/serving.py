"""A world that is served: every host answers on its own address."""

from __future__ import annotations

import asyncio
import errno
from collections import deque
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from stockman.lab.core.dice import Dice
from stockman.lab.core.state import state
from stockman.lab.doors.outside import LoopbackOutside
from stockman.lab.doors.pace import Pace
from stockman.lab.http.house import House
from stockman.lab.http.server import HttpServer
from stockman.lab.ssh.door import SshDoor
from stockman.lab.world.world import World

if TYPE_CHECKING:
    import ssl

    from stockman.lab.authority.state import Authority
    from stockman.lab.http.messages import Handler, Outcome, Request
    from stockman.lab.pve.api.api import Api
    from stockman.lab.pve.cluster import Cluster
    from stockman.lab.pve.host import Host
    from stockman.lab.ssh.keys import Key
    from stockman.lab.ssh.programs.console import Console

API_PORT = 8006
_LOG_LINES = 10_000
_LOCALHOST = "127.0.0.1"


class PortTaken(Exception):
    """Somebody else listens where a host should answer."""

    def __init__(self, address: str, port: int) -> None:
        super().__init__(f"{address}:{port}")
        self.address = address
        self.port = port


@state
class Place:
    """Where a host answers."""

    cluster: str
    host: str
    address: str
    port: int
    ssh_port: int = 0
    """0: it has no SSH door."""


@state
class Manner:
    """How a world is served."""

    speed: float | None = None
    """Seconds inside for one outside. None: as fast as possible."""
    port: int = API_PORT
    """0: any that is free."""
    ssh_port: int | None = None
    """The same for SSH. None: no host has such a door."""
    slow_refusals: bool = False
    """Whether failed logins are answered late, as the real one does."""


class Serving:
    """The doors of one world while they are open."""

    def __init__(self, world: World, manner: Manner, scratch: Path, now: datetime) -> None:
        self.world = world
        self.places: list[Place] = []
        self.log: deque[str] = deque(maxlen=_LOG_LINES)
        self._manner = manner
        self._scratch = scratch
        self._now = now
        self.servers: list[HttpServer] = []
        self._ssh: list[SshDoor] = []
        self._outside = LoopbackOutside()
        self._pace: Pace | None = None

    @property
    def pace(self) -> Pace:
        if self._pace is None:
            raise RuntimeError("the world is not served")
        return self._pace

    async def start(self) -> None:
        """Open all doors; raises `PortTaken`, and leaves none open then."""
        self._pace = self._outside.pace = Pace(self.world, self._manner.speed)
        self.world.around.outside = self._outside
        try:
            for cluster in self.world.clusters.values():
                api = _late_api(cluster)
                for host in cluster.state.hosts.values():
                    await self._open(api, cluster, host)
        except BaseException:
            await self.stop()
            raise
        self.pace.go_on()

    async def stop(self) -> None:
        """Close all doors; the world stands still."""
        if self._pace is not None:
            self._pace.catch_up()
            self._pace.stop()
        for server in self.servers:
            await server.stop()
        self.servers.clear()
        for door in self._ssh:
            await door.stop()
        self._ssh.clear()
        await self._outside.stop()

    async def _open(self, api: Callable[[], Api], cluster: Cluster, host: Host) -> None:
        def first(request: Request) -> Outcome | Awaitable[Outcome]:
            # What answers is imported for the first request: the doors open without it.
            server.handler = self._face(api, host)
            return server.handler(request)

        house = House(is_upload=_is_upload, spool=self._scratch)
        server = HttpServer(first, lambda: self.world.now, house)
        context = partial(self._context, cluster, host)
        address, port = await _bound(server, host.address, self._manner.port, context)
        self.servers.append(server)
        place = Place(cluster.name, host.name, address, port)
        self.places.append(place)
        if self._manner.ssh_port is not None:
            self._open_ssh(api, host, place)

    def _open_ssh(self, api: Callable[[], Api], host: Host, place: Place) -> None:
        def console() -> Console:
            # Made for the first connection, as what answers requests is.
            from stockman.lab.ssh.keys import authorize
            from stockman.lab.ssh.programs.console import Console

            authorize(api().cluster.state, self.ssh_key())
            return Console(api(), host, self.pace)

        wanted = self._manner.ssh_port if place.address == host.address else 0
        door = SshDoor(console, self._seen)
        try:
            place.ssh_port = door.start(place.address, wanted or 0)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise PortTaken(place.address, wanted or 0) from None
            raise
        self._ssh.append(door)

    def ssh_key(self) -> Key:
        """The key that opens all hosts of all clusters; made when first asked for."""
        from stockman.lab.ssh.keys import client_key

        first = next(iter(self.world.state.clusters.values()))
        return client_key(first, Dice(self.world.state.dice.seed, 1 << 41).random_bytes)

    def _face(self, api: Callable[[], Api], host: Host) -> Handler:
        from stockman.lab.doors.pve_face import PveFace

        return PveFace(
            api, host, self.pace, slow_refusals=self._manner.slow_refusals, seen=self._seen
        )

    def _seen(self, line: str) -> None:
        moment = datetime.fromtimestamp(self.world.now, UTC)
        self.log.append(f"{moment:%Y-%m-%d %H:%M:%S} {line}")

    def authority(self, cluster: Cluster) -> Authority:
        """What signs the certificates of a cluster's hosts; made with those when first asked for.

        All of them at once, so that it does not matter who is asked first.
        """
        state = cluster.state
        if state.authority is None:
            from stockman.lab.authority.making import names_of_host, new_authority, new_certificate

            dice = Dice(self.world.state.dice.seed, 1 << 40).random_bytes
            state.authority = new_authority(self._now, dice)
            for host in state.hosts.values():
                names = names_of_host(host.name, host.address, host.dns.get("search", ""))
                made = new_certificate(state.authority, names, self._now, dice)
                state.certificates[host.name] = made
        return state.authority

    def _context(self, cluster: Cluster, host: Host) -> ssl.SSLContext:
        from stockman.lab.authority.tls import server_context

        self.authority(cluster)
        return server_context(cluster.state.certificates[host.name], self._scratch)


def _late_api(cluster: Cluster) -> Callable[[], Api]:
    """The API of a cluster, made for the first request: the doors open without it."""
    made: list[Api] = []

    def api() -> Api:
        if not made:
            from stockman.lab.pve.api.api import Api

            made.append(Api(cluster))
        return made[0]

    return api


async def _bound(
    server: HttpServer, address: str, port: int, context: Callable[[], ssl.SSLContext]
) -> tuple[str, int]:
    """Where a server listens: at its own address, or where this machine has no such one, at any."""
    try:
        return address, await server.start(address, port, context)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise PortTaken(address, port) from None
        if error.errno != errno.EADDRNOTAVAIL:
            raise
    return _LOCALHOST, await server.start(_LOCALHOST, 0, context)


def _is_upload(request: Request) -> bool:
    path = request.target.partition("?")[0]
    return request.method == "POST" and path.endswith("/upload") and "/storage/" in path


async def until_stopped(serving: Serving, ready: Callable[[], None]) -> None:
    """Serve until cancelled."""
    await serving.start()
    ready()
    try:
        await asyncio.get_running_loop().create_future()
    finally:
        await serving.stop()
