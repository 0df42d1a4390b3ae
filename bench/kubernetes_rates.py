"""GETs of one pod: the lab's API server beside a real kube-apiserver, asked by the same client.

    python -m bench.kubernetes_rates

Prints the ratio with its limit; exits with 1 when it is over.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Network
from pathlib import Path
from typing import TYPE_CHECKING

from bench.ratio import Ratio, report

if TYPE_CHECKING:
    from stockman_lab.talos.api.call import ApiMachine
    from stockman_lab.world.world import World

    from tools.pytest_plugin import RealTool

GETS = 2_000
CONNECTIONS = 8
ROUNDS = 5
NETWORK = IPv4Network("127.84.0.0/16")
PODS = "/api/v1/namespaces/default/pods"
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "sheep", "labels": {"app": "sheep"}},
    "spec": {
        "containers": [
            {
                "name": "wool",
                "image": "example/wool:1",
                "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}},
            }
        ]
    },
}
CLIENT = "client.pem"
_LIMIT = 1 / 0.25


@dataclass
class Asked:
    """A server, and how somebody who may do everything asks it."""

    address: tuple[str, int]
    tls: ssl.SSLContext
    headers: dict[str, str] = field(default_factory=dict)

    def request(self, path: str) -> bytes:
        """A GET as it goes over the wire."""
        standard = {"Host": "bench", "User-Agent": "bench", "Accept": "application/json"}
        lines = "".join(f"{name}: {value}\r\n" for name, value in (standard | self.headers).items())
        return f"GET {path} HTTP/1.1\r\n{lines}\r\n".encode()


class _Connection(asyncio.Protocol):
    """Sends the same request again and again, each when the last one was answered."""

    def __init__(self, request: bytes, count: int) -> None:
        self._request = request
        self._left = count
        self._read = bytearray()
        self.over: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        self._read += data
        head, measured, body = self._read.partition(b"\r\n\r\n")
        if not measured:
            return
        length = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
        if len(body) < int(length):
            return
        assert head.startswith(b"HTTP/1.1 200"), bytes(self._read)
        self._left -= 1
        if not self._left:
            self.over.set_result(bytes(body))
            return
        self._read.clear()
        assert self.transport is not None
        self.transport.write(self._request)


def ratios() -> list[Ratio]:
    """Everything that is measured here; nothing where there is no real server."""
    from tools.errors import ToolError
    from tools.provide import Provider

    provider = Provider()
    try:
        for name in ("etcd", "kube-apiserver", "kubectl"):
            provider.path(name)
    except ToolError as missing:
        print(f"kube-apiserver is left out: {missing}")
        return []
    with ExitStack() as stack:
        real = stack.enter_context(real_server(provider.path))
        lab = stack.enter_context(lab_server())
        least = {"real": float("inf"), "lab": float("inf")}
        for _ in range(ROUNDS):
            for name, item in (("real", real), ("lab", lab)):
                least[name] = min(least[name], seconds_of(item, f"{PODS}/sheep", GETS))
    rates = {name: GETS / item for name, item in least.items()}
    return [
        Ratio(
            "GETs a second, kube-apiserver / the lab",
            rates["real"] / rates["lab"],
            _LIMIT,
            f"{rates['real']:.0f} / {rates['lab']:.0f}, {CONNECTIONS} connections",
        )
    ]


def seconds_of(server: Asked, path: str, count: int, connections: int = CONNECTIONS) -> float:
    """Seconds that so many answers take, without those of opening the connections."""
    return asyncio.run(_seconds(server, path, count, connections))


async def answer(server: Asked, path: str) -> bytes:
    """What is answered to one GET."""
    item = await _open_connection(server, server.request(path), 1)
    try:
        return await item.over
    finally:
        assert item.transport is not None
        item.transport.close()


async def _seconds(server: Asked, path: str, count: int, connections: int) -> float:
    request = server.request(path)
    opened = [await _open_connection(server, request, 1) for _ in range(connections)]
    for item in opened:
        await item.over
    begin = time.perf_counter()
    for item in opened:
        assert item.transport is not None
        again = _Connection(request, count // connections)
        item.transport.set_protocol(again)
        again.connection_made(item.transport)
        item.over = again.over
    for item in opened:
        await item.over
    taken = time.perf_counter() - begin
    for item in opened:
        assert item.transport is not None
        item.transport.close()
    return taken


async def _open_connection(server: Asked, request: bytes, count: int) -> _Connection:
    loop = asyncio.get_running_loop()
    host, port = server.address
    _, connection = await loop.create_connection(
        lambda: _Connection(request, count), host, port, ssl=server.tls, server_hostname="bench"
    )
    return connection


@contextmanager
def real_server(tool: RealTool) -> Iterator[Asked]:
    """A real kube-apiserver on a real etcd, with the pod."""
    from tests.real.rendered.api_server import TOKEN, api_server

    with tempfile.TemporaryDirectory() as folder, api_server(Path(folder), tool) as server:
        answer = server.sent("POST", PODS, json.dumps(POD).encode())
        assert answer.status == 201, answer.body
        host, _, port = server.address.partition(":")
        yield Asked((host, int(port)), _trusting(), {"Authorization": f"Bearer {TOKEN}"})


@contextmanager
def lab_server() -> Iterator[Asked]:
    """A lab with one machine, served by a process of its own, with the pod."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "bench.kubernetes_rates", "serve", folder]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as server:
            assert server.stdout is not None
            try:
                host, port = json.loads(server.stdout.readline())
                yield Asked((host, port), _trusting(Path(folder)))
            finally:
                server.send_signal(signal.SIGTERM)


def _trusting(scratch: Path | None = None) -> ssl.SSLContext:
    measured = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    measured.check_hostname = False
    measured.verify_mode = ssl.CERT_NONE
    if scratch is not None:
        measured.load_cert_chain(scratch / CLIENT)
    return measured


async def serve(scratch: Path) -> None:
    """Serve a world with one machine and the pod until killed; print where."""
    from stockman_lab.world.preset import PresetOptions, preset_world
    from stockman_lab.world.staging import Staging, stage_cluster

    now = datetime.now(UTC) - timedelta(hours=1)
    world = preset_world(PresetOptions("single", NETWORK, now=now.timestamp()))
    stage_cluster(world, Staging(preset="single", network=NETWORK, real_now=now))
    create(world, PODS, POD)
    world.settle()
    with open_server(world, scratch) as server:
        print(json.dumps(server.address), flush=True)
        await asyncio.get_running_loop().create_future()


def create(world: World, path: str, body: object) -> None:
    """Put an object into the first cluster of a world."""
    from stockman_lab.kube.api.messages import Request, User

    cluster = world.kubernetes.cluster_of(world.talos.machines[0])
    assert cluster is not None
    headers = {"content-type": "application/json", "user-agent": "bench"}
    sent, user = json.dumps(body).encode(), User("admin", ("system:masters",))
    answer = cluster.handle(Request("POST", path, {}, headers, sent, user))
    assert answer.status == 201, answer.body


@contextmanager
def open_server(world: World, scratch: Path) -> Iterator[Asked]:
    """The API server of a world's first control plane while its doors are open, in this loop."""
    from stockman_lab.core.dice import Dice
    from stockman_lab.servers.kube_certificates import admin_certificate
    from stockman_lab.servers.kube_servers import KubeServers
    from stockman_lab.servers.pace import Pace

    machine = next(item for item in world.talos.machines if item.is_controlplane)
    config = machine.config
    assert config is not None
    moment = datetime.now(UTC) - timedelta(minutes=30)
    shown = admin_certificate(config, moment, Dice(1).random_bytes)
    (scratch / CLIENT).write_text(shown.key.reveal() + shown.crt)
    face = KubeServers(world, Pace(world, 1.0), scratch, _any_port)
    face.reconcile()
    address = face.place_of(machine, machine.address)
    assert address is not None
    yield Asked(address, _trusting(scratch))
    face.stop()


def _any_port(machine: ApiMachine, address: str, port: int) -> tuple[str, int]:
    del machine, address, port
    return "127.0.0.1", 0


def main(arguments: list[str]) -> int:
    """Measure, or be the process that is measured."""
    match arguments:
        case ["serve", folder]:
            asyncio.run(serve(Path(folder)))
        case _:
            return report(ratios())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
