"""A cluster of the lab behind HTTPS: its server, its controllers, its scheduler, its kubelets."""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, unquote

from stockman_lab.core.dice import Dice
from stockman_lab.core.timeline import Arguments, Timeline, TimelineState
from stockman_lab.doors.kube_certificates import server_context
from stockman_lab.etcd.client import EtcdClient
from stockman_lab.etcd.cluster import EtcdCluster, EtcdMember
from stockman_lab.etcd.seeded import seed_server
from stockman_lab.http.go_style import go_house
from stockman_lab.http.messages import Outcome, Request, Response, Stream
from stockman_lab.http.parsing import split_target
from stockman_lab.http.server import HttpServer
from stockman_lab.kube.access.builtin_roles import add_builtin_roles
from stockman_lab.kube.access.front import Front, Trusted
from stockman_lab.kube.access.signing import signed
from stockman_lab.kube.api.messages import Request as Asked
from stockman_lab.kube.api.server import Api
from stockman_lab.kube.api.surroundings import Settings
from stockman_lab.kube.controllers.manager import Controllers
from stockman_lab.kube.controllers.registry import CONTROLLERS
from stockman_lab.kube.controllers.state import ControllersState
from stockman_lab.kube.nodes.kinds import node_controllers
from stockman_lab.kube.objects import Object

from stockman.adapters.system import SystemEntropy
from tests.real.kubectl.authority import Authority
from tests.real.kubectl.nodes import MACHINES, SERVICE_NETWORK, Machines, outcome

ENTROPY = SystemEntropy()
_SPEED = 3.0
"""Seconds inside for one outside, so that pods start as fast as those of kwok."""
_EARLIER = 560.0
"""Seconds by which it is earlier inside: nothing there may be in the future of kubectl."""
_PATIENCE = 30.0
_BODY_BYTES = 16 << 20
_TICK = 0.25


class LabCluster:
    """The cluster, in the loop of a thread."""

    def __init__(self, authority: Authority, account_key: str, now: float) -> None:
        member = EtcdMember("one", ["http://127.0.0.1:2380"], started=True, has_data=True)
        self._etcd = EtcdCluster("1", members={"1": member})
        self.timeline = Timeline(TimelineState(now=now - _EARLIER), self._happen)
        self._begin = self.timeline.now
        dice = Dice(7)
        seed_server(self._etcd.keyspace, SERVICE_NETWORK, dice, self.timeline.now)
        api = Api(self._client, dice, Settings(service_network=SERVICE_NETWORK))
        add_builtin_roles(api.store, dice, self.timeline.now)
        self.front = Front(api, Trusted(account_key, "https://127.0.0.1"))
        hosts = Machines()
        self._authority = authority
        self.controllers = Controllers(
            api,
            ControllersState(),
            self.timeline,
            Dice(3),
            root_ca=lambda: authority.itself.crt,
            sign=self._signed,
            kinds=(*CONTROLLERS, *node_controllers(hosts, outcome)),
        )
        for machine in MACHINES:
            self.controllers.look_at("kubelet", f"@{machine.name}")

    def _client(self) -> EtcdClient:
        return EtcdClient(self._etcd, ["1"], self.timeline.now)

    def _signed(self, request: Object) -> Object:
        return signed(request, self._authority.itself, self.timeline.now, ENTROPY.random_bytes)

    def _happen(self, name: str, arguments: Arguments) -> None:
        self.controllers.happen(name, arguments)

    def catch_up(self, outside: float) -> None:
        """Let happen what would have happened since the beginning."""
        self.timeline.run_until(self._begin + outside * _SPEED)
        self.front.api.store.bell.ring()

    def next_in(self, outside: float) -> float | None:
        """Seconds until something happens. None: nothing will."""
        upcoming = self.timeline.next_at
        if upcoming is None:
            return None
        return max((upcoming - self._begin) / _SPEED - outside, 0.0)


class LabDoor:
    """Serves a cluster over HTTPS."""

    def __init__(self, cluster: LabCluster, context: ssl.SSLContext) -> None:
        self._cluster = cluster
        self._context = context
        self._loop = asyncio.get_running_loop()
        self._since = self._loop.time()
        self._timer: asyncio.TimerHandle | None = None

    async def open(self) -> tuple[HttpServer, int]:
        house = go_house(body_bytes=_BODY_BYTES, asks_for_certificates=True)
        server = HttpServer(self._answered, lambda: self._cluster.timeline.now, house)
        port = await server.start("127.0.0.1", 0, self._context)
        self._tick()
        return server, port

    def _answered(self, request: Request) -> Outcome:
        self._cluster.catch_up(self._loop.time() - self._since)
        path, query = split_target(request.target)
        handle = self._cluster.front.handle(
            Asked(
                request.method,
                unquote(path),
                parse_qs(query, keep_blank_values=True),
                request.headers,
                request.body,
            ),
            request.certificate,
        )
        self._tick()
        headers = dict(handle.headers)
        if handle.warnings:
            headers["Warning"] = ", ".join(handle.warnings)
        response = Response(handle.status, headers=headers, body=handle.body)
        if handle.stream is None:
            return response
        return Stream(_pieces(handle.stream), response)

    def _tick(self) -> None:
        """Be there when the next thing happens."""
        if self._timer is not None:
            self._timer.cancel()
        seconds = self._cluster.next_in(self._loop.time() - self._since)
        self._timer = self._loop.call_later(min(_TICK, seconds or _TICK), self._ticked)

    def _ticked(self) -> None:
        self._timer = None
        self._cluster.catch_up(self._loop.time() - self._since)
        self._tick()

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()


async def _pieces(found: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    async for one in found:
        yield one


@contextmanager
def lab_cluster(
    place: Path, authority: Authority, account_key: str, now: float
) -> Iterator[tuple[str, LabCluster]]:
    """The address of a server of the lab while it runs, and what is behind it."""
    started: Future[str] = Future()
    ending: Future[None] = Future()
    cluster = LabCluster(authority, account_key, now)

    async def served() -> None:
        context = server_context(authority.server(), authority.itself.crt, place)
        door = LabDoor(cluster, context)
        server, port = await door.open()
        started.set_result(f"127.0.0.1:{port}")
        await asyncio.wrap_future(ending)
        door.close()
        await server.stop()

    thread = threading.Thread(target=lambda: asyncio.run(served()), daemon=True)
    thread.start()
    try:
        yield started.result(_PATIENCE), cluster
    finally:
        ending.set_result(None)
        thread.join(_PATIENCE)
