"""A proxy that terminates TLS before a machine in maintenance mode reads no configuration."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from stockman_lab.core.dice import Dice

from stockman.adapters.system import SystemClock
from stockman.adapters.talos.transport import GrpcTalos
from stockman.crypto.certificates import ValidityPeriod, create_authority, key_fingerprint
from stockman.crypto.private_keys import Algorithm
from stockman.model.errors import StockmanError
from stockman.planning.talos.changes import JoinChange
from stockman.steps.talos.configuration import ConfigureMachine
from stockman.steps.talos.machine import MachineState, probe_machine
from stockman.talos.secrets.bundle import bundle_text
from tests.adapters.grpc_talos.served import endpoints, served
from tests.steps.talos_scene import MINORS, Scene, scene

PROXY = "127.0.7.99"


@asynccontextmanager
async def tls_proxy(target: str, folder: Path) -> AsyncIterator[tuple[str, bytearray]]:
    """Its address, and everything that clients send through it, decrypted."""
    seen = bytearray()
    server_context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server_context.load_cert_chain(_own_certificate(folder))
    server_context.set_alpn_protocols(["h2"])
    client_context = ssl.create_default_context()
    client_context.check_hostname, client_context.verify_mode = False, ssl.CERT_NONE
    client_context.set_alpn_protocols(["h2"])
    host, _, port = target.rpartition(":")

    async def pump(
        source: asyncio.StreamReader, sink: asyncio.StreamWriter, note: bytearray
    ) -> None:
        with suppress(ConnectionError, ssl.SSLError):
            while data := await source.read(65536):
                note += data
                sink.write(data)
                await sink.drain()
        sink.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection(host, int(port), ssl=client_context)
        await asyncio.gather(pump(reader, back, seen), pump(there, writer, bytearray()))

    server = await asyncio.start_server(serve, PROXY, 0, ssl=server_context)
    async with server:
        yield f"{PROXY}:{server.sockets[0].getsockname()[1]}", seen


def _own_certificate(folder: Path) -> Path:
    file = folder / "proxy.pem"
    if file.exists():
        return file
    period = ValidityPeriod.lasting(SystemClock().now() - timedelta(days=1), timedelta(days=2))
    pair = create_authority("proxy", Algorithm.ECDSA, period, Dice(3).random_bytes)
    file.write_text(pair.crt + pair.key.reveal())
    return file


def secrets_of(cluster: Scene) -> list[str]:
    lines = bundle_text(cluster.bundle).reveal().splitlines()
    values = (line.partition(":")[2].strip() for line in lines if "crt:" not in line)
    return [value for value in values if len(value) > 20]


def configure_through_proxy(cluster: Scene, fingerprint: str, folder: Path) -> tuple[str, bytes]:
    """The code of the problem, and everything that the proxy read."""
    join = next(change for change in cluster.changes() if isinstance(change, JoinChange))
    return asyncio.run(_configure(cluster, join, fingerprint, folder))


async def _configure(
    cluster: Scene, join: JoinChange, fingerprint: str, folder: Path
) -> tuple[str, bytes]:
    machine = replace(join.machine, fingerprint=fingerprint)
    action = ConfigureMachine(
        machine=machine, minor=cluster.wish().minor, digest=join.digest, patience=5.0
    )
    place = f"{machine.address}:50000"
    async with served(cluster.world, folder) as face:
        real = endpoints(cluster.world, face)
        async with tls_proxy(real.connect[place], folder) as (address, seen):
            known = replace(real, hosts=(str(machine.address),), connect={place: address})
            async with GrpcTalos(known) as talos:
                ports = replace(cluster.ports, talos=talos)
                assert (await probe_machine(talos, machine.address)).standing is (
                    MachineState.MAINTENANCE
                )
                try:
                    await action.run(ports)
                except StockmanError as error:
                    return error.problem.code, bytes(seen)
    return "", bytes(seen)


@pytest.mark.parametrize("version", MINORS)
def test_a_machine_behind_a_tls_proxy_gets_no_configuration(version: str, tmp_path: Path) -> None:
    cluster = scene("single", version)
    cluster.start()
    (name,) = cluster.staged.machines

    confirmed, seen = configure_through_proxy(cluster, cluster.fingerprint(name), tmp_path)
    unconfirmed, also_seen = configure_through_proxy(cluster, "", tmp_path)

    assert confirmed == "talos.certificate"
    assert unconfirmed == "node.first-config"
    assert len(seen) > 300
    secrets = secrets_of(cluster)
    assert len(secrets) > 5
    assert [one for one in secrets if one.encode() in seen + also_seen] == []


def test_the_proxy_reads_what_goes_to_its_own_certificate(tmp_path: Path) -> None:
    cluster = scene("single")
    cluster.start()
    pem = _own_certificate(tmp_path).read_text()
    own = key_fingerprint(ssl.PEM_cert_to_DER_cert(pem[: pem.index("-----BEGIN", 30)]))

    code, seen = configure_through_proxy(cluster, own, tmp_path)

    assert [one for one in secrets_of(cluster) if one.encode() in seen] != [], code
