"""An HTTPS server on a loopback address that answers as it is told and keeps what it was asked."""

from __future__ import annotations

import asyncio
import json
import ssl
import tempfile
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum, auto
from functools import cache
from ipaddress import IPv4Address
from pathlib import Path
from typing import NamedTuple, Self
from urllib.parse import parse_qsl, unquote, urlsplit

from cryptography.hazmat.primitives import hashes

from stockman.crypto.certificates import (
    CertificateRequest,
    Purpose,
    ValidityPeriod,
    create_authority,
    issue_certificate,
    read_certificate,
)
from stockman.crypto.pem import CertificateAndKey
from stockman.crypto.private_keys import Algorithm

ADDRESS = "127.0.0.1"
NAME = "pve1.test"
PERIOD = ValidityPeriod(datetime(2020, 1, 1, tzinfo=UTC), datetime(2120, 1, 1, tzinfo=UTC))


@dataclass(frozen=True)
class Asked:
    """One request as it came over the wire."""

    method: str
    path: str
    """Behind `/api2/json`, decoded."""
    target: str
    """As it stood in the request line."""
    query: list[tuple[str, str]]
    headers: dict[str, str]
    body: bytes
    connection: int

    @property
    def form(self) -> list[tuple[str, str]]:
        return parse_qsl(self.body.decode(), keep_blank_values=True)

    @property
    def values(self) -> dict[str, str]:
        return dict(self.query or self.form)


@dataclass(frozen=True)
class Answer:
    """A reply with its own status line."""

    data: object = None
    status: int = 200
    reason: str = "OK"
    message: str = ""
    errors: dict[str, str] = field(default_factory=dict)
    more: dict[str, object] = field(default_factory=dict)
    raw: bytes | None = None
    """Instead of an envelope. None: one is made."""
    headers: tuple[tuple[str, str], ...] = ()
    closes: bool = False
    """Whether the connection is closed without a word about it."""

    def wire(self) -> bytes:
        body = self.raw if self.raw is not None else self._envelope()
        lines = [
            f"HTTP/1.1 {self.status} {self.reason}",
            "Content-Type: application/json;charset=UTF-8",
            f"Content-Length: {len(body)}",
            *(f"{name}: {value}" for name, value in self.headers),
        ]
        if self.status >= 400:
            lines.append("Connection: close")
        return "\r\n".join([*lines, "", ""]).encode("latin-1") + body

    def _envelope(self) -> bytes:
        envelope: dict[str, object] = {"data": self.data, **self.more}
        if self.message:
            envelope["message"] = self.message
        if self.errors:
            envelope["errors"] = self.errors
        return json.dumps(envelope).encode()


def died(text: str) -> Answer:
    """What a handler that gives up answers."""
    return Answer(status=500, reason=text, message=f"{text}\n")


def wrong(**errors: str) -> Answer:
    """What parameters that do not fit are answered with."""
    text = "Parameter verification failed."
    return Answer(status=400, reason=text, message=f"{text}\n", errors=errors)


class Trouble(Enum):
    """What can happen instead of an answer."""

    CUT = auto()
    HANG = auto()


Reply = Answer | Trouble
Handler = Callable[[Asked], Reply]


class Identity(NamedTuple):
    """A CA, and the certificate that it gave to the server."""

    ca: CertificateAndKey
    server: CertificateAndKey

    @property
    def fingerprint(self) -> str:
        fingerprint = read_certificate(self.server.crt).fingerprint(hashes.SHA256())
        return fingerprint.hex(":").upper()


@cache
def identity(number: int = 0) -> Identity:
    """A CA and a certificate; another one for each number."""
    grown = bytes([number + 1])

    def dice(count: int) -> bytes:
        return grown * count

    ca = create_authority("Proxmox Virtual Environment", Algorithm.ECDSA, PERIOD, dice)
    leaf = CertificateRequest(
        period=PERIOD,
        purposes=(Purpose.SERVER,),
        common_name=NAME,
        dns_names=(NAME,),
        addresses=(IPv4Address(ADDRESS),),
    )
    return Identity(ca, issue_certificate(ca, leaf, dice))


class ScriptedServer:
    """Answers with what is queued, and then with what its handler says."""

    def __init__(self, handler: Handler | None = None, *, shows: Identity | None = None) -> None:
        self.identity = shows or identity()
        self.asked: list[Asked] = []
        self.next: deque[Reply] = deque()
        self.port = 0
        self.connections = 0
        self.newest_tls: ssl.TLSVersion | None = None
        """None: the newest that there is."""
        self.encrypted = True
        self._handler = handler or (lambda _: Answer())

    @property
    def url(self) -> str:
        return f"https://{ADDRESS}:{self.port}"

    def calls(self) -> list[str]:
        """What was asked, `GET /version`, in order."""
        return [f"{one.method} {one.path}" for one in self.asked]

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[Self]:
        self._over = asyncio.Event()
        self._open: dict[asyncio.StreamWriter, asyncio.Task[None] | None] = {}
        secure = self._context() if self.encrypted else None
        server = await asyncio.start_server(self._serve, ADDRESS, 0, ssl=secure)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()
            self._over.set()
            for writer in self._open:
                writer.transport.abort()
            await asyncio.gather(*filter(None, self._open.values()))

    def _context(self) -> ssl.SSLContext:
        ssl_context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        if self.newest_tls is not None:
            ssl_context.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
            ssl_context.maximum_version = self.newest_tls
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "server.pem"
            path.write_text(self.identity.server.crt + self.identity.server.key.reveal())
            ssl_context.load_cert_chain(path)
        return ssl_context

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open[writer] = asyncio.current_task()
        self.connections += 1
        number = self.connections
        try:
            while await self._answered(await _request(reader, number), writer):
                pass
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError, ValueError):
            pass
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()
            del self._open[writer]

    async def _answered(self, request: Asked, writer: asyncio.StreamWriter) -> bool:
        self.asked.append(request)
        answer = self.next.popleft() if self.next else self._handler(request)
        if isinstance(answer, Trouble):
            if answer is Trouble.HANG:
                await self._over.wait()
            writer.transport.abort()
            return False
        writer.write(answer.wire())
        await writer.drain()
        return answer.status < 400 and not answer.closes


async def _request(reader: asyncio.StreamReader, connection: int) -> Asked:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.rstrip("\r\n").split("\r\n")
    method, target, _ = first.split(" ")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    parts = urlsplit(target)
    return Asked(
        method=method,
        path=unquote(parts.path).removeprefix("/api2/json"),
        target=target,
        query=parse_qsl(parts.query, keep_blank_values=True),
        headers=headers,
        body=body,
        connection=connection,
    )
