"""The Talos face: calls and streams over TLS, each against something bare in the same run.

    python -m bench.talos

Prints the ratios with their limits; exits with 1 when one is over.
"""

from __future__ import annotations

import asyncio
import ssl
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Network
from pathlib import Path

from grpclib.client import Channel, UnaryUnaryMethod
from grpclib.const import Cardinality, Handler
from grpclib.server import Server, Stream
from stockman_lab.core.dice import Dice
from stockman_lab.servers.pace import Pace
from stockman_lab.servers.talos_servers import Keeping, TalosServers
from stockman_lab.talos.api.call import ApiMachine
from stockman_lab.talos.machine import Machine
from stockman_lab.talos.security.tls import server_context
from stockman_lab.world.preset import PresetOptions, preset_world
from stockman_lab.world.staging import Staging, stage_cluster
from stockman_lab.world.world import World

from bench.ratio import Ratio, report
from lab.tests.servers.talos_client import RawCodec
from stockman.crypto.certificates import (
    CertificateRequest,
    Purpose,
    ValidityPeriod,
    issue_certificate,
)
from stockman.crypto.pem import CertificateAndKey
from stockman.model.secret import Secret

CALLS = 1_000
ROUNDS = 5
VERSION = "/machine.MachineService/Version"
SERVICES = "/machine.MachineService/ServiceList"
SNAPSHOT = "/machine.MachineService/EtcdSnapshot"
NETWORK = IPv4Network("127.83.0.0/16")
PIECE = 64 * 1024
PIECES = 200 * 1024 * 1024 // PIECE
VALUE = 4_000
MIB = 1 << 20
ADDRESS = "127.0.0.1"

_UNARY_LIMIT = 4.0
_STREAM_LIMIT = 1 / 0.3


def ratios() -> list[Ratio]:
    """Everything that is measured here."""
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(_measured(Path(folder)))


async def _measured(scratch: Path) -> list[Ratio]:
    world = _booted()
    (machine,) = world.talos.machines
    tls = _client(machine, scratch)
    async with _face(world, machine, scratch) as face, _minimal(machine, scratch) as minimal:
        calls = await _least(
            {
                "Version": lambda: _calls(face, tls, VERSION),
                "ServiceList": lambda: _calls(face, tls, SERVICES),
                "minimal": lambda: _calls(minimal, tls, VERSION),
            }
        )
        _fill(world)
        streams = await _least(
            {"face": lambda: _stream(face, tls), "copy": lambda: _copied(machine, tls, scratch)}
        )
    each = {name: seconds / CALLS * 1e6 for name, seconds in calls.items()}
    size = PIECE * PIECES / MIB
    return [
        *(
            Ratio(
                f"Talos {name} / minimal grpclib handler",
                calls[name] / calls["minimal"],
                _UNARY_LIMIT,
                f"{each[name]:.0f} us / {each['minimal']:.0f} us a call, client included",
            )
            for name in ("Version", "ServiceList")
        ),
        Ratio(
            "Talos snapshot of 200 MiB / one TLS socket",
            streams["face"] / streams["copy"],
            _STREAM_LIMIT,
            f"{size / streams['face']:.0f} MiB/s / {size / streams['copy']:.0f} MiB/s",
        ),
    ]


def _booted() -> World:
    """A world with one machine that is up."""
    now = datetime.now(UTC)
    world = preset_world(PresetOptions("single", NETWORK, now=now.timestamp()))
    wanted = Staging(preset="single", network=NETWORK, real_now=now - timedelta(hours=1))
    stage_cluster(world, wanted)
    world.talos.real_clock = now.timestamp
    return world


def _fill(world: World) -> None:
    """Put as much into etcd as its snapshot shall have."""
    (cluster,) = world.state.talos.etcd.values()
    for number in range(PIECE * PIECES // VALUE):
        name = b"/registry/pods/default/sheep-%d" % number
        cluster.keyspace.put(name, number.to_bytes(4, "big") * (VALUE // 4))


def _client(machine: Machine, scratch: Path) -> ssl.SSLContext:
    """How an admin of the machine's cluster speaks TLS."""
    config = machine.config
    assert config is not None
    authority = CertificateAndKey(crt=config.os_ca.crt, key=Secret(config.os_ca.key))
    period = ValidityPeriod.lasting(datetime.now(UTC) - timedelta(minutes=30), timedelta(days=30))
    leaf = CertificateRequest(
        period=period, purposes=(Purpose.CLIENT,), organizations=("os:admin",)
    )
    pair = issue_certificate(authority, leaf, Dice(1).random_bytes)
    measured = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    measured.set_alpn_protocols(["h2"])
    measured.check_hostname = False
    measured.load_verify_locations(cadata=config.os_ca.crt)
    path = scratch / "client.pem"
    path.write_text(pair.key.reveal().replace("ED25519 PRIVATE", "PRIVATE") + pair.crt, "ascii")
    measured.load_cert_chain(path)
    return measured


async def _least(steps: dict[str, Callable[[], Awaitable[None]]]) -> dict[str, float]:
    """The least processor time of each, with its client, measured in turns."""
    measured: dict[str, float] = {}
    for _ in range(ROUNDS):
        for name, step in steps.items():
            begin = time.process_time()
            await step()
            taken = time.process_time() - begin
            measured[name] = min(measured.get(name, taken), taken)
    return measured


async def _calls(address: tuple[str, int], tls: ssl.SSLContext, path: str) -> None:
    channel = Channel(*address, codec=RawCodec(), ssl=tls)
    method = UnaryUnaryMethod(channel, path, bytes, bytes)
    for _ in range(CALLS):
        await method(b"")
    channel.close()


async def _stream(address: tuple[str, int], tls: ssl.SSLContext) -> None:
    """Read a stream with as little of a client as there can be: no HTTP/2 but its window."""
    from h2.config import H2Configuration
    from h2.connection import H2Connection

    http2 = H2Connection(H2Configuration())
    http2.initiate_connection()
    http2.update_settings({4: (1 << 31) - 1})
    http2.increment_flow_control_window((1 << 31) - 1 - 65_535)
    http2.send_headers(1, _headers(SNAPSHOT))
    http2.send_data(1, bytes(5), end_stream=True)
    reader, writer = await asyncio.open_connection(*address, ssl=tls)
    writer.write(http2.data_to_send())
    left = PIECE * PIECES
    while left > 0:
        left -= len(await reader.read(MIB))
    writer.close()


def _headers(path: str) -> list[tuple[str, str]]:
    return [
        (":method", "POST"),
        (":scheme", "https"),
        (":path", path),
        (":authority", "bench"),
        ("content-type", "application/grpc"),
        ("te", "trailers"),
    ]


async def _copied(machine: Machine, tls: ssl.SSLContext, scratch: Path) -> None:
    """The same bytes through one TLS socket, with the same client."""
    piece = bytes(PIECE)

    async def pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        del reader
        for _ in range(PIECES):
            writer.write(piece)
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(pour, ADDRESS, 0, ssl=_context(machine, scratch))
    reader, writer = await asyncio.open_connection(*_place(server), ssl=tls)
    left = PIECE * PIECES
    while left > 0:
        left -= len(await reader.read(MIB))
    writer.close()
    server.close()


@asynccontextmanager
async def _face(world: World, machine: Machine, scratch: Path) -> AsyncIterator[tuple[str, int]]:
    keeping = Keeping(placing=_any_port)
    face = TalosServers(world.talos, Pace(world, None), scratch, keeping)
    face.reconcile()
    address = face.place_of(machine, machine.address)
    assert address is not None
    yield address
    face.stop()


def _any_port(machine: ApiMachine, address: str, port: int) -> tuple[str, int]:
    del machine, address, port
    return ADDRESS, 0


class _Minimal:
    """A service that answers one method with the same bytes always."""

    async def version(self, stream: Stream[bytes, bytes]) -> None:
        await stream.recv_message()
        await stream.send_message(_ANSWER)

    def __mapping__(self) -> dict[str, Handler]:
        return {VERSION: Handler(self.version, Cardinality.UNARY_UNARY, bytes, bytes)}


_ANSWER = bytes(80)


@asynccontextmanager
async def _minimal(machine: Machine, scratch: Path) -> AsyncIterator[tuple[str, int]]:
    server = Server([_Minimal()], codec=RawCodec())
    await server.start(ADDRESS, 0, ssl=_context(machine, scratch))
    inner = server._server
    assert isinstance(inner, asyncio.Server)
    yield _place(inner)
    server.close()
    await server.wait_closed()


def _place(server: asyncio.Server) -> tuple[str, int]:
    name = server.sockets[0].getsockname()
    return str(name[0]), int(name[1])


def _context(machine: Machine, scratch: Path) -> ssl.SSLContext:
    api = machine.api
    assert api is not None
    return server_context(api.certificate, api.key, scratch, api.ca)


if __name__ == "__main__":
    sys.exit(report(ratios()))
