"""The doors of Proxmox hosts: HTTPS on each, and SSH where it is asked for."""

from __future__ import annotations

import asyncio
import errno
import json
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING

from stockman_lab.core.dice import Dice
from stockman_lab.core.state import state
from stockman_lab.http.messages import JSON, Cut, Hang, Outcome, Request, Response
from stockman_lab.http.parsing import BadBody, parameters
from stockman_lab.http.rules import ServerRules
from stockman_lab.http.server import HttpServer
from stockman_lab.pve.api.call import ApiReply, ApiRequest, Later, Outgoing, Upload
from stockman_lab.pve.api.call import Outcome as Fate
from stockman_lab.pve.host import Host
from stockman_lab.servers.context import ServingContext
from stockman_lab.servers.listener import PortTaken, opened
from stockman_lab.servers.pace import Pace
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

_PREFIX = "/api2/"
_FORMATS = frozenset({"json", "extjs"})
_ENCODE = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode


class PveHandler:
    """Answers HTTP requests of one host out of the world."""

    def __init__(
        self,
        api: Callable[[], Api],
        host: Host,
        pace: Pace,
        *,
        slow_refusals: bool = False,
        seen: Callable[[str], None] | None = None,
    ) -> None:
        self._api = api
        self._host = host
        self._pace = pace
        self._slow = slow_refusals
        self._seen = seen

    def __call__(self, request: Request) -> Outcome | asyncio.Future[Outcome]:
        """Answer at once where that can be, later otherwise."""
        if not self._host.has_power:
            return Cut()
        self._pace.catch_up()
        # Still encoded: the schema decodes it, once. Clients like to begin with two slashes.
        path = "/" + request.target.partition("?")[0].lstrip("/")
        style, _, rest = path.removeprefix(_PREFIX).partition("/")
        if not path.startswith(_PREFIX) or style not in _FORMATS:
            return _no_uri(request)
        try:
            outgoing = self._api().perform(self._host, self._api_request(request, f"/{rest}"))
        except BadBody as bad:
            return Response(400, str(bad))
        self._pace.go_on()
        if self._seen is not None:
            self._seen(f"{self._host.name} {request.method} {path}")
        if isinstance(outgoing, ApiReply) and not self._waits(outgoing):
            return _response(outgoing, style)
        return asyncio.ensure_future(self._later(outgoing, style))

    def _api_request(self, request: Request, path: str) -> ApiRequest:
        upload = None
        if request.upload is not None:
            upload = Upload(request.upload.filename, request.upload.path.read_bytes())
        return ApiRequest(
            method=request.method,
            path=path,
            params=dict(parameters(request)),
            headers=request.headers,
            upload=upload,
        )

    def _waits(self, reply: ApiReply) -> bool:
        if reply.status == HTTPStatus.UNAUTHORIZED and not self._slow:
            return False
        return reply.wait > 0

    async def _later(self, outgoing: Outgoing, style: str) -> Outcome:
        if isinstance(outgoing, Later):
            outgoing = await self._known(outgoing)
        if self._waits(outgoing):
            await self._pace.wait(outgoing.wait)
        self._pace.go_on()
        return _response(outgoing, style)

    async def _known(self, later: Later) -> ApiReply:
        if later.seconds is not None:
            await self._pace.wait(later.seconds)
            return later.conclude(None)
        arrived: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        if later.begin is not None:
            later.begin(arrived.set_result)
        return later.conclude(await arrived)


def _response(reply: ApiReply, style: str) -> Outcome:
    if reply.outcome is Fate.HANG:
        return Hang()
    if reply.outcome is Fate.CUT:
        return Cut()
    if reply.body is None:
        return Response(reply.status, reply.reason)
    status, body = reply.status, reply.body
    if style == "extjs":
        body = _extjs(reply)
        status = 200
    text = _ENCODE(body).encode("utf-8", "replace")
    if reply.outcome is Fate.CORRUPT:
        text = text[: len(text) // 2]
    reason = reply.reason if style == "json" else "OK"
    return Response(status, reason, JSON, text)


def _extjs(reply: ApiReply) -> dict[str, object]:
    body = dict(reply.body or {})
    body["success"] = 1 if reply.status < HTTPStatus.BAD_REQUEST else 0
    if reply.status >= HTTPStatus.BAD_REQUEST:
        body["status"] = reply.status
    return body


def _no_uri(request: Request) -> Response:
    del request
    return Response(501, "no such uri")


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
