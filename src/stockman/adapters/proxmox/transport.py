"""The HTTP transport of Proxmox VE: connections are reused, a read is repeated once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import field
from datetime import datetime, timedelta
from functools import partial
from http import HTTPStatus
from urllib.parse import urlencode

import httpx2

from stockman.adapters import http, tls
from stockman.adapters.proxmox import errors
from stockman.adapters.proxmox.credentials import ApiToken, DeferredToken, Login, Tickets
from stockman.adapters.proxmox.endpoint import (
    BASE,
    Endpoints,
    WrongCertificate,
    fetch_certificate,
    format_address,
    tls_context,
)
from stockman.adapters.proxmox.errors import HttpAnswer, ReplyContext, parse_reply
from stockman.adapters.tls import AsyncCloseable
from stockman.model.errors import Denied, Refused, StockmanError
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.ports.environment import ServerAddress
from stockman.ports.system import Clock, Timekeeper
from stockman.proxmox.calls.tasks import PollPolicy
from stockman.proxmox.client import ProxmoxClient
from stockman.proxmox.errors import AUTHENTICATION, unexpected_answer, unknown_outcome
from stockman.proxmox.storages import Upload
from stockman.proxmox.transport import Reply, Request

_MAX_CONNECTIONS = 16


class ConnectionPool:
    """A pool of clients with one connection each.

    A client with many connections checks all of them for every request, which is slow.
    """

    def __init__(self, create: Callable[[], httpx2.AsyncClient]) -> None:
        self._create = create
        self._all: list[httpx2.AsyncClient] = []
        self._free: list[httpx2.AsyncClient] = []
        """The most recently used client is used next: its connection is most likely open."""
        self._slots = asyncio.Semaphore(_MAX_CONNECTIONS)

    @asynccontextmanager
    async def reserve(self) -> AsyncIterator[httpx2.AsyncClient]:
        """Reserve a client, waiting for a free one."""
        async with self._slots:
            client = self._free.pop() if self._free else self._new_client()
            try:
                yield client
            finally:
                self._free.append(client)

    async def close(self) -> None:
        """Close all clients."""
        for client in self._all:
            await client.aclose()

    def _new_client(self) -> httpx2.AsyncClient:
        client = self._create()
        self._all.append(client)
        return client


BOUNDARY = "stockman-7f3c1d5a9b2e4860"
"""Content that contains it after a line break is refused."""


class Multipart:
    """The multipart body of an upload; the server requires the fields before the file."""

    def __init__(self, request: Request, file: Upload) -> None:
        self._file = file
        fields = "".join(
            f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
            for name, value in request.pairs
        )
        head = (
            f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="filename"; '
            f'filename="{_safe_file_name(file.name)}"\r\n'
            "Content-Type: application/octet-stream\r\n\r\n"
        )
        self._head = (fields + head).encode()
        self._tail = f"\r\n--{BOUNDARY}--\r\n".encode()

    @property
    def headers(self) -> dict[str, str]:
        length = len(self._head) + self._file.size + len(self._tail)
        return {
            "Content-Type": f"multipart/form-data; boundary={BOUNDARY}",
            "Content-Length": str(length),
        }

    async def body(self) -> AsyncIterator[bytes]:
        yield self._head
        remaining, tail = self._file.size, b""
        async for chunk in self._file.read():
            remaining -= len(chunk)
            if remaining < 0:
                break
            if f"\r\n--{BOUNDARY}".encode() in tail + chunk:
                raise Refused(_upload_problem(self._file, "it contains the boundary of the upload"))
            tail = chunk[-len(BOUNDARY) - 4 :]
            yield chunk
        if remaining:
            raise Refused(_upload_problem(self._file, f"its size is not {self._file.size} bytes"))
        yield self._tail


def _safe_file_name(name: str) -> str:
    return "".join(letter for letter in name if letter.isprintable() and letter not in '"\\')


def _upload_problem(file: Upload, why: str) -> Problem:
    return Problem(
        code="proxmox.upload",
        what=f"{file.name} cannot be uploaded to Proxmox VE",
        where=file.name,
        why=why,
        fix="run it again when no program writes the file; or let the host download it",
    )


_MAX_BYTES = 64 << 20
_REJECTED = timedelta(minutes=5)
"""How long rejected credentials are not sent again."""


@record
class Rejection:
    """Credentials that Proxmox VE rejected."""

    error: Denied
    header: str = field(repr=False)
    """Empty: a user and password, or a token that cannot be sent."""
    at: datetime


class ProxmoxHttpTransport:
    """Sends requests over HTTPS to the first endpoint that accepts the connection.

    Credentials are sent only in headers. Proxy settings and `.netrc` are ignored.
    """

    def __init__(
        self, endpoints: Endpoints, credentials: ApiToken | DeferredToken | Login, clock: Clock
    ) -> None:
        self._servers = endpoints.servers()
        self._timeouts = endpoints.timeouts
        self._tickets = Tickets(credentials, clock) if isinstance(credentials, Login) else None
        self._token = None if isinstance(credentials, Login) else credentials
        self._login_or_token = credentials
        self._current = 0
        self._verify = tls_context(endpoints.trust)
        self._connections = ConnectionPool(self._client)
        self._clock = clock
        self._first_call = asyncio.Lock()
        self._has_answer = False
        """Whether a request was answered with anything but 401; until then none runs beside it."""
        self._rejection: Rejection | None = None
        """The last rejection of the credentials. None: they were not rejected."""

    async def close(self) -> None:
        """Close all connections."""
        await self._connections.close()

    def _client(self) -> httpx2.AsyncClient:
        return http.create_client(
            self._verify,
            httpx2.Timeout(None, connect=self._timeouts.connect),
            http.connection_limits(1, self._timeouts.keep_alive),
            headers={"Accept": "application/json"},
        )

    async def call(self, request: Request) -> Reply:
        """Send a request; rejected credentials are not sent again for some minutes.

        Hosts count failed logins, and block addresses with too many of them (fail2ban).
        """
        if self._was_answered():
            return await self._call(request)
        async with self._first_call:
            if not self._was_answered():  # another call may have been answered meanwhile
                self._raise_rejection()
                return await self._call(request)
        return await self._call(request)

    def _was_answered(self) -> bool:
        return self._has_answer

    async def _call(self, request: Request) -> Reply:
        try:
            return await self._exchange(request)
        except Denied as error:
            if error.problem.code == AUTHENTICATION:
                self._has_answer = False
                self._rejection = Rejection(
                    error=error, header=self._token_header(), at=self._clock.now()
                )
                raise
            self._has_answer = True
            raise
        except StockmanError:
            self._has_answer = True
            raise

    def _raise_rejection(self) -> None:
        """Raise the last rejection again, unless it is old, or the token is another one now."""
        rejection = self._rejection
        if rejection is None or self._clock.now() - rejection.at >= _REJECTED:
            return
        if isinstance(self._token, DeferredToken) and self._token.is_renewed(rejection.header):
            return
        raise rejection.error

    def _token_header(self) -> str:
        try:
            return "" if self._token is None else self._token.header()
        except Denied:
            return ""

    async def _exchange(self, request: Request) -> Reply:
        headers = await self._credentials(request)
        answer = await self._answer(request, headers)
        if answer.status == HTTPStatus.UNAUTHORIZED and self._is_renewed(headers):
            answer = await self._answer(request, await self._credentials(request))
        reply = parse_reply(request, answer, self._reply_context())
        self._has_answer, self._rejection = True, None
        return reply

    def _is_renewed(self, used: Mapping[str, str]) -> bool:
        """Return whether the token was renewed since it was read."""
        return isinstance(self._token, DeferredToken) and self._token.is_renewed(
            used["Authorization"]
        )

    async def _credentials(self, request: Request) -> dict[str, str]:
        if self._token is not None:
            return {"Authorization": self._token.header()}
        return {} if self._tickets is None else await self._tickets.headers(request, self._log_in)

    async def _log_in(self, request: Request) -> Reply:
        return parse_reply(request, await self._answer(request, {}), self._reply_context())

    def _reply_context(self) -> ReplyContext:
        requester = self._login_or_token.requester
        if self._token is not None:
            token = self._token.secret.reveal()
            return ReplyContext(requester=requester, secrets=(token,), token=token)
        return ReplyContext(
            requester=requester, secrets=() if self._tickets is None else self._tickets.secrets()
        )

    async def _answer(self, request: Request, headers: dict[str, str]) -> HttpAnswer:
        """Send a request to the first endpoint that accepts the connection."""
        last_error: StockmanError | None = None
        for _ in self._servers:
            index = self._current
            server = self._servers[index]
            try:
                return await self._answer_of(server, request, headers)
            except http.CONNECT_ERRORS as error:
                last_error = await self._connection_error(server, error)
                if errors.is_final(last_error):
                    break
                if self._current == index:
                    self._current = (index + 1) % len(self._servers)
        raise last_error or unexpected_answer(request, "no endpoint is configured")

    async def _answer_of(
        self, server: ServerAddress, request: Request, headers: dict[str, str]
    ) -> HttpAnswer:
        seconds = self._seconds(request)
        try:
            async with asyncio.timeout(seconds):
                return await http.send_twice(
                    lambda: self._send(server, request, headers), is_repeatable=request.is_read
                )
        except TimeoutError:
            why = f"no complete reply within {seconds:g} s"
            if request.is_read:
                raise errors.unreachable_error(format_address(server), why) from None
            raise unknown_outcome(request, why) from None
        except http.CONNECTION_ERRORS as error:
            why = tls.error_reason(error)
            if request.is_read:
                raise errors.unreachable_error(format_address(server), why) from error
            raise unknown_outcome(request, why) from error
        except httpx2.DecodingError as error:
            raise unexpected_answer(request, "its reply cannot be decompressed") from error

    async def _send(
        self, server: ServerAddress, request: Request, headers: dict[str, str]
    ) -> HttpAnswer:
        url = httpx2.URL(
            scheme="https", host=server.host, port=server.port, raw_path=_target(request)
        )
        content, content_headers = _body(request)
        extensions = {}
        if server.name:
            extensions["sni_hostname"] = server.name
            content_headers["Host"] = server.name
        async with (
            self._connections.reserve() as client,
            client.stream(
                request.method,
                url,
                content=content,
                headers={**content_headers, **headers},
                extensions=extensions,
            ) as reply,
        ):
            return HttpAnswer(
                status=reply.status_code,
                reason=reply.reason_phrase,
                body=await http.read_body(reply, _MAX_BYTES, partial(unexpected_answer, request)),
                at=format_address(server),
            )

    async def _connection_error(
        self, server: ServerAddress, error: httpx2.TransportError
    ) -> StockmanError:
        flaw = tls.certificate_flaw(error)
        if flaw is None:
            return errors.unreachable_error(format_address(server), tls.error_reason(error))
        if isinstance(flaw, WrongCertificate):
            return errors.fingerprint_error(format_address(server), str(flaw))
        certificate = await fetch_certificate(server, self._timeouts.connect)
        fingerprint = certificate.fingerprint if certificate else ""
        why = tls.certificate_reason(flaw)
        return errors.certificate_error(format_address(server), why, fingerprint)

    def _seconds(self, request: Request) -> float:
        if request.upload is not None:
            return self._timeouts.upload
        return self._timeouts.read if request.is_read else self._timeouts.write


def _target(request: Request) -> bytes:
    path = BASE + request.quoted
    query = "" if request.method in ("POST", "PUT") else urlencode(request.pairs)
    return (f"{path}?{query}" if query else path).encode("ascii")


def _body(request: Request) -> tuple[bytes | AsyncIterator[bytes] | None, dict[str, str]]:
    if request.upload is not None:
        multipart = Multipart(request, request.upload)
        return multipart.body(), multipart.headers
    if request.method not in ("POST", "PUT"):
        return None, {}
    return urlencode(request.pairs).encode("ascii"), {
        "Content-Type": "application/x-www-form-urlencoded"
    }


class HttpProxmox(ProxmoxClient, AsyncCloseable):
    """A Proxmox VE client over HTTPS, to be closed after use."""

    def __init__(
        self,
        endpoints: Endpoints,
        credentials: ApiToken | DeferredToken | Login,
        clock: Timekeeper,
        patience: PollPolicy | None = None,
    ) -> None:
        self._http_transport = ProxmoxHttpTransport(endpoints, credentials, clock)
        super().__init__(self._http_transport, clock, patience)

    async def close(self) -> None:
        await self._http_transport.close()
