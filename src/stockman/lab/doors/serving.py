"""A world that is served: every host answers on its own address."""

from __future__ import annotations

import asyncio
import errno
from collections import deque
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from stockman.lab.core.dice import Dice
from stockman.lab.core.state import state
from stockman.lab.doors.outside import LoopbackOutside
from stockman.lab.doors.pace import Pace
from stockman.lab.doors.port_taken import PortTaken
from stockman.lab.http.house import House
from stockman.lab.http.server import HttpServer
from stockman.lab.ssh.door import SshDoor
from stockman.lab.world.world import World

if TYPE_CHECKING:
    import ssl

    from stockman.lab.authority.state import Authority
    from stockman.lab.doors.git_door import GitDoor
    from stockman.lab.doors.images_door import ImagesDoor
    from stockman.lab.doors.kube_face import KubeFace
    from stockman.lab.doors.objects_door import ObjectsDoor
    from stockman.lab.doors.talos_face import TalosFace
    from stockman.lab.http.messages import Handler, Outcome, Request
    from stockman.lab.objects.keys import AccessKey
    from stockman.lab.pve.api.api import Api
    from stockman.lab.pve.cluster import Cluster
    from stockman.lab.pve.host import Host
    from stockman.lab.ssh.keys import Key
    from stockman.lab.ssh.programs.console import Console
    from stockman.lab.talos.machine import Machine

API_PORT = 8006
TALOS_PORT = 50000
KUBE_PORT = 6443
_LOG_LINES = 10_000
_LOCALHOST = "127.0.0.1"


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
    images_port: int | None = None
    """Of Image Factory and registry. None: nobody serves them."""
    talos_port: int = TALOS_PORT
    """Of Talos machines, each on its own address. 0: any that is free."""
    objects_port: int | None = None
    """Of object storage. None: nobody serves it."""
    git_port: int | None = None
    """Of git repositories, beside object storage. None: nobody serves them."""
    kube_port: int | None = KUBE_PORT
    """Of API servers, each on the address of its machine. 0: any that is free; None: none opens."""
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
        self._images: ImagesDoor | None = None
        self.images_place: tuple[str, int] | None = None
        """Where Image Factory and registry answer. None: nowhere."""
        self._telling: asyncio.Handle | None = None
        self._objects: ObjectsDoor | None = None
        self.objects_place: tuple[str, int] | None = None
        """Where object storage answers. None: nowhere."""
        self._git: GitDoor | None = None
        self.git_place: tuple[str, int] | None = None
        """Where git repositories are served. None: nowhere, or there is none."""
        self.talos: TalosFace | None = None
        """The doors of Talos machines. None: no machine has booted yet."""
        self.kube: KubeFace | None = None
        """The doors of API servers. None: no machine has booted yet, or nobody wants them."""
        self._outside = LoopbackOutside()
        self._pace: Pace | None = None
        self._began = 0.0

    @property
    def pace(self) -> Pace:
        if self._pace is None:
            raise RuntimeError("the world is not served")
        return self._pace

    async def start(self) -> None:
        """Open all doors; raises `PortTaken`, and leaves none open then."""
        self._pace = self._outside.pace = Pace(self.world, self._manner.speed)
        self._began = asyncio.get_running_loop().time()
        self.world.around.outside = self._outside
        try:
            for cluster in self.world.clusters.values():
                api = _late_api(cluster)
                for host in cluster.state.hosts.values():
                    await self._open(api, cluster, host)
            await self._open_images()
            await self._open_objects()
            await self._open_git()
            self._open_machines()
        except BaseException:
            await self.stop()
            raise
        self.pace.go_on()

    def happened(self) -> None:
        """Called after somebody changed the world from outside."""
        if self.talos is not None:
            self.talos.happened()
        if self.kube is not None:
            self.kube.happened()

    def machine_place(self, machine: Machine) -> tuple[str, int] | None:
        """Where the API of a Talos machine answers. None: nowhere."""
        return None if self.talos is None else self.talos.place_of(machine, machine.address)

    def talosconfig(self) -> str:
        """A talosconfig for all clusters of Talos machines. Empty: there is none."""
        from stockman.lab.doors.talos_clients import talosconfig_of

        return talosconfig_of(self.world, self._now, self._endpoint)

    def kubeconfig(self) -> str:
        """A kubeconfig for all clusters that answer. Empty: there is none."""
        from stockman.lab.doors.talos_clients import kubeconfig_of

        return kubeconfig_of(self.world, self._now, self.kube_place)

    def kube_place(self, machine: Machine) -> tuple[str, int] | None:
        """Where the API server of a machine answers. None: nowhere."""
        if self.kube is None:
            return None
        vip = machine.state.network.vip
        shared = self.kube.place_of(machine, vip) if vip else None
        return shared or self.kube.place_of(machine, machine.address)

    def _endpoint(self, machine: Machine) -> str:
        place = self.machine_place(machine)
        if place is None or place == (machine.address, TALOS_PORT):
            return machine.address
        return f"{place[0]}:{place[1]}"

    def _open_machines(self) -> None:
        land = self.world.talos
        land.real_clock = self._real_clock()
        land.listen(self._machines_changed)
        if any(True for _ in land.on()):
            self._machines_changed()

    def _real_clock(self) -> Callable[[], float]:
        """The moment outside: those who check certificates live there."""
        loop = asyncio.get_running_loop()
        begun, started = self._now.timestamp(), loop.time()
        return lambda: begun + loop.time() - started

    def _machines_changed(self) -> None:
        """Something happened to a Talos machine; the first one has their doors made."""
        if self.talos is None:
            from stockman.lab.doors.talos_face import Keeping, TalosFace
            from stockman.lab.doors.talos_places import TalosPlaces

            keeping = Keeping(TalosPlaces(self._manner.talos_port).of, self._seen)
            self.talos = TalosFace(self.world.talos, self.pace, self._scratch, keeping)
            self.talos.reconcile()
            self._open_kube()
        elif self._telling is None:
            self._telling = asyncio.get_running_loop().call_soon(self._tell_machines)

    def _open_kube(self) -> None:
        if self._manner.kube_port is None:
            return
        from stockman.lab.doors.kube_face import KubeFace
        from stockman.lab.doors.talos_places import TalosPlaces

        places = TalosPlaces(self._manner.kube_port, KUBE_PORT)
        self.kube = KubeFace(self.world, self.pace, self._scratch, places.of, self._seen)
        self.kube.reconcile()

    def _tell_machines(self) -> None:
        """Whoever changed a machine, those who follow it are told."""
        self._telling = None
        self.happened()

    async def _open_images(self) -> None:
        if self._manner.images_port is None or not self.world.state.images_address:
            return
        from stockman.lab.doors.images_door import ImagesDoor

        address, port = self.world.state.images_address, self._manner.images_port
        door = self._images = ImagesDoor(self.world, self.pace, self._seen)
        self.images_place = await _opened(door.start, address, port)

    async def _open_objects(self) -> None:
        if self._manner.objects_port is None or not self.world.state.objects_address:
            return
        from stockman.lab.doors.objects_door import ObjectsDoor

        address, port = self.world.state.objects_address, self._manner.objects_port
        door = self._objects = ObjectsDoor(self.world, self.pace, self._real_now, self._seen)
        self.objects_place = await _opened(door.start, address, port)

    async def _open_git(self) -> None:
        state = self.world.state
        if self._manner.git_port is None or not state.objects_address or not state.repositories:
            return
        from stockman.lab.doors.git_door import GitDoor

        door = self._git = GitDoor(state.repositories, lambda: self.world.now, self._seen)
        self.git_place = await _opened(door.start, state.objects_address, self._manner.git_port)

    def _real_now(self) -> datetime:
        """What clients take for the time, at whatever pace the world goes."""
        passed = asyncio.get_running_loop().time() - self._began
        return self._now + timedelta(seconds=passed)

    def objects_key(self) -> AccessKey:
        """What opens object storage; made when first asked for."""
        from stockman.lab.objects.keys import first_key

        return first_key(self.world.state.objects, self.world.state.dice.seed)

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
        if self.kube is not None:
            self.kube.stop()
            self.kube = None
        if self.talos is not None:
            self.talos.stop()
            self.talos = None
        if self._images is not None:
            await self._images.stop()
            self._images = None
        if self._objects is not None:
            await self._objects.stop()
            self._objects = None
        if self._git is not None:
            await self._git.stop()
            self._git = None
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


async def _opened(
    start: Callable[[str, int], Awaitable[int]], address: str, port: int
) -> tuple[str, int]:
    """Where a door is: at its own address, or where this machine has no such one, at any."""
    try:
        return address, await start(address, port)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise PortTaken(address, port) from None
        if error.errno != errno.EADDRNOTAVAIL:
            raise
    return _LOCALHOST, await start(_LOCALHOST, 0)


async def _bound(
    server: HttpServer, address: str, port: int, context: Callable[[], ssl.SSLContext]
) -> tuple[str, int]:
    """Where a server listens: at its own address, or where this machine has no such one, at any."""
    return await _opened(lambda at, number: server.start(at, number, context), address, port)


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
