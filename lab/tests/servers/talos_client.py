"""Asks machines over the wire, with the same library on the other side."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

from grpclib.client import Channel, UnaryStreamMethod, UnaryUnaryMethod
from grpclib.encoding.base import CodecBase
from stockman_lab.servers.pace import Pace
from stockman_lab.servers.talos_servers import Keeping, TalosServers
from stockman_lab.talos.api.call import ApiMachine
from stockman_lab.talos.api.registry import Methods
from stockman_lab.world.world import World

from lab.tests.talos.api.pretended import (
    PretendedLand,
    PretendedMachine,
    client,
    cluster_authority,
    few_methods,
)
from stockman.crypto.pem import CertificateAndKey

T = TypeVar("T")


def today() -> datetime:
    """The moment of the machine that the tests run on: certificates are verified by its clock."""
    return datetime.now(UTC)  # noqa: TID251  # OpenSSL looks at the same clock


class RawCodec(CodecBase):
    """Messages are bytes."""

    __content_subtype__ = "proto"

    def encode(self, message: bytes, message_type: object) -> bytes:
        del message_type
        return message

    def decode(self, data: bytes, message_type: object) -> bytes:
        del message_type
        return data


def context(certificate_and_key: CertificateAndKey | None, scratch: Path) -> ssl.SSLContext:
    """How a client speaks TLS: with a certificate, or without any."""
    ssl_context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    ssl_context.set_alpn_protocols(["h2"])
    if certificate_and_key is None:
        ssl_context.check_hostname = False
        ssl_context.verify_mode = ssl.CERT_NONE
        return ssl_context
    ssl_context.load_verify_locations(cadata=cluster_authority().crt)
    path = scratch / "client.pem"
    path.write_text(
        certificate_and_key.key.reveal().replace("ED25519 PRIVATE", "PRIVATE")
        + certificate_and_key.crt,
        "ascii",
    )
    ssl_context.load_cert_chain(path)
    return ssl_context


@dataclass
class Wired:
    """Machines that are served, and how to ask them."""

    land: PretendedLand
    face: TalosServers
    scratch: Path

    @asynccontextmanager
    async def channel(
        self, machine: PretendedMachine, certificate_and_key: CertificateAndKey | None
    ) -> AsyncIterator[Channel]:
        place = self.face.place_of(machine, machine.addresses[0])
        assert place is not None
        channel = Channel(*place, codec=RawCodec(), ssl=context(certificate_and_key, self.scratch))
        try:
            yield channel
        finally:
            channel.close()

    async def ask(
        self,
        machine: PretendedMachine,
        path: str,
        raw: bytes = b"",
        who: CertificateAndKey | None = None,
        **metadata: str,
    ) -> bytes:
        """The reply to one message."""
        async with self.channel(machine, who) as channel:
            method = UnaryUnaryMethod(channel, path, bytes, bytes)
            return await method(raw, metadata=metadata, timeout=20)

    async def stream(
        self,
        machine: PretendedMachine,
        path: str,
        raw: bytes = b"",
        certificate_and_key: CertificateAndKey | None = None,
    ) -> list[bytes]:
        """All messages that come back."""
        async with self.channel(machine, certificate_and_key) as channel:
            return list(await UnaryStreamMethod(channel, path, bytes, bytes)(raw, timeout=20))


def served(
    scratch: Path,
    machines: list[PretendedMachine],
    steps: Callable[[Wired], Awaitable[T]],
    methods: Methods | None = None,
    world: World | None = None,
) -> T:
    """What the steps return, with machines served on any free port."""

    async def run() -> T:
        pretended_land = PretendedLand(*machines)
        face = TalosServers(
            pretended_land,
            Pace(world or World.new(), None),
            scratch,
            Keeping(_any_port),
            methods or few_methods(),
        )
        face.reconcile()
        asyncio.get_running_loop().set_exception_handler(lambda _, about: mistakes.append(about))
        try:
            async with asyncio.timeout(30):
                return await steps(Wired(pretended_land, face, scratch))
        finally:
            face.stop()

    mistakes: list[object] = []
    result = asyncio.run(run())
    assert mistakes == []
    return result


def _any_port(machine: ApiMachine, address: str, port: int) -> tuple[str, int]:
    del machine, port
    return address, 0


def admin(*roles: str) -> CertificateAndKey:
    """Somebody with roles, an admin without any."""
    return client(today() - timedelta(hours=1), *(roles or ("os:admin",)))
