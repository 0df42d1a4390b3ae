"""API servers on the wire: where they answer, whom they believe, how watches end."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import ClassVar

import pytest
from stockman_lab.core.dice import Dice
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.servers.kube_certificates import admin_certificate
from stockman_lab.servers.options import ServingOptions
from stockman_lab.servers.serving import Serving
from stockman_lab.talos.machine import Machine
from stockman_lab.talos.noticing import holds
from stockman_lab.world.world import World

from lab.tests.talos.staged import staged

MAPS = "/api/v1/namespaces/default/configmaps"


def now() -> datetime:
    return datetime.now(UTC)  # noqa: TID251  # TLS verifies certificates by it


@asynccontextmanager
async def serving(world: World, scratch: Path) -> AsyncIterator[Serving]:
    manner = ServingOptions(port=0, talos_port=0, kube_port=0, speed=1.0)
    world.talos.around.timeline.run_until(max(world.now, now().timestamp()))
    serving = Serving(world, manner, scratch, now() - timedelta(hours=1))
    await serving.start()
    try:
        yield serving
    finally:
        while Client.connected:
            Client.connected.pop().writer.close()
        await serving.stop()


class Client:
    """One connection of an administrator."""

    connected: ClassVar[list[Client]] = []

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.connected.append(self)

    async def end(self) -> None:
        """Read on until a stream ends."""
        while await self.piece():
            pass

    @classmethod
    async def to(cls, machine: Machine, rows: tuple[str, int], scratch: Path) -> Client:
        config = machine.config
        assert config is not None
        shown = admin_certificate(config, now() - timedelta(hours=1), Dice(1).random_bytes)
        path = scratch / "client.pem"
        path.write_text(shown.key.reveal() + shown.crt)
        context = ssl.create_default_context(cadata=config.k8s_ca.crt)
        context.load_cert_chain(path)
        name = machine.address
        return cls(*await asyncio.open_connection(*rows, ssl=context, server_hostname=name))

    def send(self, method: str, path: str, body: object = None) -> None:
        content = b"" if body is None else json.dumps(body).encode()
        head = f"{method} {path} HTTP/1.1\r\nHost: lab\r\nContent-Type: application/json\r\n"
        self.writer.write(f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content)

    async def head(self) -> str:
        return (await self.reader.readuntil(b"\r\n\r\n")).decode()

    async def asked(self, method: str, path: str, body: object = None) -> tuple[int, bytes]:
        self.send(method, path, body)
        head = await self.head()
        length = int(head.lower().partition("content-length: ")[2].partition("\r\n")[0])
        return int(head.split()[1]), await self.reader.readexactly(length)

    async def piece(self) -> bytes:
        """The next chunk of a stream; empty: it has ended."""
        size = int(await self.reader.readuntil(b"\r\n"), 16)
        return (await self.reader.readexactly(size + 2))[:-2]


def run(work: Callable[[], Awaitable[None]]) -> None:
    async def limited() -> None:
        await asyncio.wait_for(work(), 30)

    asyncio.run(limited())


def first_place(serving: Serving) -> tuple[Machine, tuple[str, int]]:
    machine = serving.world.talos.machines[0]
    assert serving.machines.kube is not None
    place = serving.machines.kube.place_of(machine, machine.address)
    assert place is not None
    return machine, place


def config_map(name: str) -> dict[str, object]:
    return {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": name}}


def test_a_connection_carries_requests_and_a_watch(tmp_path: Path) -> None:
    async def work() -> None:
        async with serving(staged(), tmp_path) as found:
            machine, place = first_place(found)
            asking = await Client.to(machine, place, tmp_path)
            assert (await asking.asked("GET", "/readyz"))[1] == b"ok"
            watching = await Client.to(machine, place, tmp_path)
            status, listed = await asking.asked("GET", MAPS)
            revision = json.loads(listed)["metadata"]["resourceVersion"]
            watching.send("GET", f"{MAPS}?watch=1&resourceVersion={revision}&timeoutSeconds=100")
            assert "Transfer-Encoding: chunked" in await watching.head()
            status, _ = await asking.asked("POST", MAPS, config_map("wool"))
            assert status == 201
            event = json.loads(await watching.piece())
            assert (event["type"], event["object"]["metadata"]["name"]) == ("ADDED", "wool")
            found.pace.jump(101)
            assert await watching.piece() == b""  # its time is over
            assert (await watching.asked("GET", "/livez"))[1] == b"ok"  # on the same connection

    run(work)


def test_a_watch_is_cut_by_a_fault(tmp_path: Path) -> None:
    async def work() -> None:
        world = staged()
        async with serving(world, tmp_path) as found:
            machine, place = first_place(found)
            match = {"verb": "watch"}
            world.faults.add(Fault(Point.KUBERNETES, Effect.CUT, match, seconds=1))
            watching = await Client.to(machine, place, tmp_path)
            watching.send("GET", f"{MAPS}?watch=1")
            await watching.head()
            with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
                await watching.end()

    run(work)


def test_somebody_without_a_certificate_is_nobody(tmp_path: Path) -> None:
    async def work() -> None:
        async with serving(staged(), tmp_path) as found:
            machine, place = first_place(found)
            assert machine.config is not None
            context = ssl.create_default_context(cadata=machine.config.k8s_ca.crt)
            name = "kubernetes.default.svc.cluster.local"
            asking = Client(
                *await asyncio.open_connection(*place, ssl=context, server_hostname=name)
            )
            status, body = await asking.asked("GET", MAPS)
            assert status == 403
            assert b'User \\"system:anonymous\\" cannot list' in body

    run(work)


def test_doors_close_with_the_machine_and_the_shared_address_moves(tmp_path: Path) -> None:
    async def work() -> None:
        world = staged("three-node")
        async with serving(world, tmp_path) as found:
            face = found.machines.kube
            assert face is not None
            machines = world.talos.machines
            holder = next(one for one in machines if holds(one))
            vip = holder.state.network.vip
            assert face.place_of(holder, vip) is not None
            world.faults.add(
                Fault(Point.NETWORK, Effect.FAIL, {"machine": holder.hostname}, times=None)
            )
            world.strike()
            found.machines.happened()
            assert face.place_of(holder, holder.address) is None
            machine = next(one for one in machines if holds(one))
            assert machine is not holder
            assert face.place_of(machine, vip) is not None

    run(work)
