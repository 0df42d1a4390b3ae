"""Asks machines of a lab over the wire, as a client with the lab's talosconfig does."""

from __future__ import annotations

import asyncio
import base64
import ssl
from enum import Enum
from pathlib import Path

import yaml
from grpclib.client import Channel, UnaryUnaryMethod
from stockman_lab.testing.thread import TalosLab

from lab.tests.servers.talos_client import RawCodec


class Reached(Enum):
    """What comes of a call."""

    ANSWERS = "answers"
    NOBODY = "nobody is there"


def client_context(talosconfig: Path) -> ssl.SSLContext:
    """TLS as the first context of a talosconfig says."""
    data = yaml.safe_load(talosconfig.read_text())
    chosen = data["contexts"][data["context"]]
    ca, crt, key = (base64.b64decode(chosen[name]).decode() for name in ("ca", "crt", "key"))
    ssl_context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    ssl_context.set_alpn_protocols(["h2"])
    ssl_context.load_verify_locations(cadata=ca)
    pem = talosconfig.with_name("client.pem")
    pem.write_text(key.replace("ED25519 PRIVATE", "PRIVATE") + crt, "ascii")
    ssl_context.load_cert_chain(pem)
    return ssl_context


async def hung_up(channel: Channel) -> None:
    """End a connection at once, without waiting for the other side to agree."""
    protocol = channel._protocol  # the library only ever asks politely
    if protocol is not None:
        protocol.connection._transport.abort()
    channel.close()
    for _ in range(2):
        await _turn()


async def _turn() -> None:
    """Let everything happen that is due in the loop."""
    passed = asyncio.get_running_loop().create_future()
    passed.get_loop().call_soon(passed.set_result, None)
    await passed


def reached(lab: TalosLab, name: str) -> Reached:
    """Whether a machine answers `Version`."""
    address, _, port = lab.places[name].rpartition(":")

    async def ask() -> Reached:
        channel = Channel(address, int(port), codec=RawCodec(), ssl=client_context(lab.talosconfig))
        try:
            method = UnaryUnaryMethod(channel, "/machine.MachineService/Version", bytes, bytes)
            return Reached.ANSWERS if await method(b"", timeout=20) else Reached.NOBODY
        except OSError:
            return Reached.NOBODY
        finally:
            await hung_up(channel)

    return asyncio.run(ask())
