"""The doors of Proxmox hosts: HTTPS on each, and SSH where it is asked for."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING

from stockman_lab.core.dice import Dice
from stockman_lab.core.state import state
from stockman_lab.http.rules import ServerRules
from stockman_lab.http.server import HttpServer
from stockman_lab.servers.context import ServingContext
from stockman_lab.servers.listener import PortTaken, opened
from stockman_lab.ssh.listener import SshListener

if TYPE_CHECKING:
    import ssl

    from stockman_lab.authority.state import Authority
    from stockman_lab.http.messages import Handler, Outcome, Request
    from stockman_lab.pve.api.api import Api
    from stockman_lab.pve.cluster import Cluster
    from stockman_lab.pve.host import Host
    from stockman_lab.ssh.keys import Key
    from stockman_lab.ssh.programs.console import Console


_MOMENT = 0.02
"""Seconds after which whoever opened the doors has told so."""


@state
class HostEndpoint:
    """Where a host answers."""

    cluster: str
    host: str
    address: str
    port: int
    ssh_port: int = 0
    """0: it has no SSH door."""


class HostServers:
    """Every host answers on its own address."""

    def __init__(self, premises: ServingContext) -> None:
        self._premises = premises
        self.places: list[HostEndpoint] = []
        self.servers: list[HttpServer] = []
        self._ssh: list[SshListener] = []
        self._loading: asyncio.Handle | None = None

    async def open(self) -> None:
        """Open them all; raises `PortTaken`."""
        apis = []
        for cluster in self._premises.world.clusters.values():
            api = _late_api(cluster)
            apis.append(api)
            for host in cluster.state.hosts.values():
                await self._open(api, cluster, host)
        if self._premises.manner.speed is not None:
            self._loading = asyncio.get_running_loop().call_later(_MOMENT, _load, apis)

    async def stop(self) -> None:
        if self._loading is not None:
            self._loading.cancel()
        for server in self.servers:
            await server.stop()
        self.servers.clear()
        for door in self._ssh:
            await door.stop()
        self._ssh.clear()

    async def _open(self, api: Callable[[], Api], cluster: Cluster, host: Host) -> None:
        def first(request: Request) -> Outcome | Awaitable[Outcome]:
            # What answers is imported for the first request: the doors open without it.
            server.handler = self._face(api, host)
            return server.handler(request)

        rules = ServerRules(is_upload=_is_upload, spool=self._premises.scratch)
        server = HttpServer(first, lambda: self._premises.world.now, rules)
        context = partial(self._context, cluster, host)
        address, port = await opened(
            lambda at, number: server.start(at, number, context),
            host.address,
            self._premises.manner.port,
        )
        self.servers.append(server)
        endpoint = HostEndpoint(cluster.name, host.name, address, port)
        self.places.append(endpoint)
        if self._premises.manner.ssh_port is not None:
            self._open_ssh(api, host, endpoint)

    def _open_ssh(self, api: Callable[[], Api], host: Host, endpoint: HostEndpoint) -> None:
        def console() -> Console:
            # Made for the first connection, as what answers requests is.
            from stockman_lab.ssh.keys import authorize
            from stockman_lab.ssh.programs.console import Console

            authorize(api().cluster.state, self.ssh_key())
            return Console(api(), host, self._premises.pace)

        ssh_port = self._premises.manner.ssh_port if endpoint.address == host.address else 0
        ssh_door = SshListener(console, self._premises.note)
        try:
            endpoint.ssh_port = ssh_door.start(endpoint.address, ssh_port or 0)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise PortTaken(endpoint.address, ssh_port or 0) from None
            raise
        self._ssh.append(ssh_door)

    def ssh_key(self) -> Key:
        """The key that opens all hosts of all clusters; made when first asked for."""
        from stockman_lab.ssh.keys import client_key

        first = next(iter(self._premises.world.state.clusters.values()))
        return client_key(first, Dice(self._premises.world.state.dice.seed, 1 << 41).random_bytes)

    def _face(self, api: Callable[[], Api], host: Host) -> Handler:
        from stockman_lab.servers.pve_handler import PveHandler

        premises = self._premises
        return PveHandler(
            api,
            host,
            premises.pace,
            slow_refusals=premises.manner.slow_refusals,
            seen=premises.note,
        )

    def authority(self, cluster: Cluster) -> Authority:
        """What signs the certificates of a cluster's hosts; made with those when first asked for.

        All of them at once, so that it does not matter who is asked first.
        """
        state = cluster.state
        if state.authority is None:
            from stockman_lab.authority.making import names_of_host, new_authority, new_certificate

            dice = Dice(self._premises.world.state.dice.seed, 1 << 40).random_bytes
            state.authority = new_authority(self._premises.now, dice)
            for host in state.hosts.values():
                names = names_of_host(host.name, host.address, host.dns.get("search", ""))
                certificate = new_certificate(state.authority, names, self._premises.now, dice)
                state.certificates[host.name] = certificate
        return state.authority

    def _context(self, cluster: Cluster, host: Host) -> ssl.SSLContext:
        from stockman_lab.authority.making import server_context

        self.authority(cluster)
        return server_context(cluster.state.certificates[host.name], self._premises.scratch)


def _load(apis: Iterable[Callable[[], Api]]) -> None:
    """Import what answers: in real time, hosts answer the first request like all others."""

    for api in apis:
        api()


def _late_api(cluster: Cluster) -> Callable[[], Api]:
    """The API of a cluster, made for the first request: the doors open without it."""
    apis: list[Api] = []

    def api() -> Api:
        if not apis:
            from stockman_lab.pve.api.api import Api

            apis.append(Api(cluster))
        return apis[0]

    return api


def _is_upload(request: Request) -> bool:
    path = request.target.partition("?")[0]
    return request.method == "POST" and path.endswith("/upload") and "/storage/" in path
