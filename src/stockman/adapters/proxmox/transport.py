"""Connections that are used again, each with a client of its own.

A client with many connections looks at all of them for every request, which takes as long as the
rest of it.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from http import HTTPStatus
from urllib.parse import urlencode

import httpx2

from stockman import __version__
from stockman.adapters.closing import AsyncCloseable
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
from stockman.model.errors import Refused, StockmanError
from stockman.model.problem import Problem
from stockman.ports.environment import ServerAddress
from stockman.ports.system import Clock, Timekeeper
from stockman.proxmox.calls.tasks import PollPolicy
from stockman.proxmox.client import ProxmoxClient
from stockman.proxmox.errors import unexpected_answer, unknown_outcome
from stockman.proxmox.storages import Upload
from stockman.proxmox.transport import Reply, Request

_MAX_CONNECTIONS = 16


class ConnectionPool:
    """So many clients with one connection each; whoever finds none that is free waits."""

    def __init__(self, made: Callable[[], httpx2.AsyncClient]) -> None:
        self._made = made
        self._all: list[httpx2.AsyncClient] = []
        self._free: list[httpx2.AsyncClient] = []
        """The one that was used last is used next: its connection is the most likely to be open."""
        self._room = asyncio.Semaphore(_MAX_CONNECTIONS)

    @asynccontextmanager
    async def one(self) -> AsyncIterator[httpx2.AsyncClient]:
        """A client that nobody else uses meanwhile."""
        async with self._room:
            client = self._free.pop() if self._free else self._another()
            try:
                yield client
            finally:
                self._free.append(client)

    async def close(self) -> None:
        """Close all of them."""
        for client in self._all:
            await client.aclose()

    def _another(self) -> httpx2.AsyncClient:
        client = self._made()
        self._all.append(client)
        return client


BOUNDARY = "stockman-7f3c1d5a9b2e4860"
"""Content that holds it after a line break is refused rather than cut off."""


class Multipart:
    """One upload; the server reads the fields before it reads the file."""

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
        left, end = self._file.size, b""
        async for part in self._file.read():
            left -= len(part)
            if left < 0:
                break
            if f"\r\n--{BOUNDARY}".encode() in end + part:
                raise Refused(
                    _upload_problem(self._file, "it holds what marks its end on the wire")
                )
            end = part[-len(BOUNDARY) - 4 :]
            yield part
        if left:
            raise Refused(
                _upload_problem(self._file, f"it does not have the {self._file.size} bytes")
            )
        yield self._tail


def _safe_file_name(name: str) -> str:
    return "".join(letter for letter in name if letter.isprintable() and letter not in '"\\')


def _upload_problem(file: Upload, why: str) -> Problem:
    return Problem(
        code="proxmox.upload",
        what=f"{file.name} cannot be sent to Proxmox VE",
        where=file.name,
        why=why,
        fix="run it again when nobody writes the file; or let the host download it",
    )


_NOISY_LOGGERS = ("httpx2", "httpcore2")
_MAX_BYTES = 64 << 20
_CONNECT_ERRORS = (httpx2.ConnectError, httpx2.ConnectTimeout)
_DEAD_CONNECTION = (
    httpx2.ReadError,
    httpx2.WriteError,
    httpx2.CloseError,
    httpx2.RemoteProtocolError,
)


class ProxmoxHttpTransport:
    """Carries calls over HTTPS to whichever endpoint takes the connection.

    Credentials stand in headers only. Settings of proxies and `.netrc` are not looked at: what is
    dialled is what was given.
    """

    def __init__(
        self, endpoints: Endpoints, credentials: ApiToken | DeferredToken | Login, clock: Clock
    ) -> None:
        self._doors = endpoints.doors()
        self._timeouts = endpoints.timeouts
        self._tickets = Tickets(credentials, clock) if isinstance(credentials, Login) else None
        self._token = None if isinstance(credentials, Login) else credentials
        self._given = credentials
        self._at = 0
        for name in _NOISY_LOGGERS:
            # They write down what servers say, and a broken server says the token back.
            logging.getLogger(name).setLevel(logging.WARNING)
        self._verify = tls_context(endpoints.trust)
        self._connections = ConnectionPool(self._client)

    async def close(self) -> None:
        """Close all connections."""
        await self._connections.close()

    def _client(self) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(
            verify=self._verify,
            trust_env=False,
            follow_redirects=False,
            timeout=httpx2.Timeout(None, connect=self._timeouts.connect),
            limits=httpx2.Limits(
                max_connections=1,
                max_keepalive_connections=1,
                keepalive_expiry=self._timeouts.keep_alive,
            ),
            headers={"User-Agent": f"stockman/{__version__}", "Accept": "application/json"},
        )

    async def call(self, request: Request) -> Reply:
        headers = await self._credentials(request)
        answer = await self._answer(request, headers)
        if answer.status == HTTPStatus.UNAUTHORIZED and self._is_renewed(headers):
            answer = await self._answer(request, await self._credentials(request))
        return parse_reply(request, answer, self._known())

    def _is_renewed(self, used: Mapping[str, str]) -> bool:
        """Whether the token was made anew since it was read: by the same run, or by somebody."""
        return isinstance(self._token, DeferredToken) and self._token.is_renewed(
            used["Authorization"]
        )

    async def _credentials(self, request: Request) -> dict[str, str]:
        if self._token is not None:
            return {"Authorization": self._token.header()}
        return {} if self._tickets is None else await self._tickets.headers(request, self._log_in)

    async def _log_in(self, request: Request) -> Reply:
        return parse_reply(request, await self._answer(request, {}), self._known())

    def _known(self) -> ReplyContext:
        requester = self._given.requester
        if self._token is not None:
            token = self._token.secret.reveal()
            return ReplyContext(requester=requester, secrets=(token,), token=token)
        return ReplyContext(
            requester=requester, secrets=() if self._tickets is None else self._tickets.secrets()
        )

    async def _answer(self, request: Request, headers: dict[str, str]) -> HttpAnswer:
        """The answer of the first endpoint that takes the connection."""
        trouble: StockmanError | None = None
        for _ in self._doors:
            at = self._at
            door = self._doors[at]
            try:
                return await self._answer_of(door, request, headers)
            except _CONNECT_ERRORS as error:
                trouble = await self._not_connected(door, error)
                if errors.is_final(trouble):
                    break
                if self._at == at:
                    self._at = (at + 1) % len(self._doors)
        raise trouble or unexpected_answer(request, "there is no endpoint")

    async def _answer_of(
        self, door: ServerAddress, request: Request, headers: dict[str, str]
    ) -> HttpAnswer:
        seconds = self._seconds(request)
        try:
            async with asyncio.timeout(seconds):
                return await self._once_or_twice(door, request, headers)
        except TimeoutError:
            why = f"no full answer within {seconds:g} s"
            if request.is_read:
                raise errors.unreachable_error(format_address(door), why) from None
            raise unknown_outcome(request, why) from None
        except _DEAD_CONNECTION as error:
            why = errors.error_reason(error)
            if request.is_read:
                raise errors.unreachable_error(format_address(door), why) from error
            raise unknown_outcome(request, why) from error
        except httpx2.DecodingError as error:
            raise unexpected_answer(request, "its answer cannot be unpacked") from error

    async def _once_or_twice(
        self, door: ServerAddress, request: Request, headers: dict[str, str]
    ) -> HttpAnswer:
        try:
            return await self._sent(door, request, headers)
        except _DEAD_CONNECTION:
            if not request.is_read:
                raise
            return await self._sent(door, request, headers)

    async def _sent(
        self, door: ServerAddress, request: Request, headers: dict[str, str]
    ) -> HttpAnswer:
        url = httpx2.URL(scheme="https", host=door.host, port=door.port, raw_path=_target(request))
        content, about = _body(request)
        extensions = {}
        if door.name:
            extensions["sni_hostname"] = door.name
            about["Host"] = door.name
        async with (
            self._connections.one() as client,
            client.stream(
                request.method,
                url,
                content=content,
                headers={**about, **headers},
                extensions=extensions,
            ) as reply,
        ):
            body = bytearray()
            async for part in reply.aiter_bytes():
                body += part
                if len(body) > _MAX_BYTES:
                    raise unexpected_answer(request, f"its answer is over {_MAX_BYTES >> 20} MiB")
            return HttpAnswer(
                status=reply.status_code,
                reason=reply.reason_phrase,
                body=bytes(body),
                at=format_address(door),
            )

    async def _not_connected(
        self, door: ServerAddress, error: httpx2.TransportError
    ) -> StockmanError:
        flaw = errors.certificate_flaw(error)
        if flaw is None:
            return errors.unreachable_error(format_address(door), errors.error_reason(error))
        if isinstance(flaw, WrongCertificate):
            return errors.fingerprint_error(format_address(door), str(flaw))
        found = await fetch_certificate(door, self._timeouts.connect)
        why = errors.lower_first(_certificate_reason(flaw))
        return errors.certificate_error(
            format_address(door), why, found.fingerprint if found else ""
        )

    def _seconds(self, request: Request) -> float:
        if request.upload is not None:
            return self._timeouts.upload
        return self._timeouts.read if request.is_read else self._timeouts.write


def _certificate_reason(flaw: ssl.SSLCertVerificationError) -> str:
    return str(getattr(flaw, "verify_message", "") or flaw).rstrip(".")


def _target(request: Request) -> bytes:
    path = BASE + request.quoted
    query = "" if request.method in ("POST", "PUT") else urlencode(request.pairs)
    return (f"{path}?{query}" if query else path).encode("ascii")


def _body(request: Request) -> tuple[bytes | AsyncIterator[bytes] | None, dict[str, str]]:
    if request.upload is not None:
        sent = Multipart(request, request.upload)
        return sent.body(), sent.headers
    if request.method not in ("POST", "PUT"):
        return None, {}
    return urlencode(request.pairs).encode("ascii"), {
        "Content-Type": "application/x-www-form-urlencoded"
    }


class HttpProxmox(ProxmoxClient, AsyncCloseable):
    """`ports.Proxmox` over HTTPS, to be closed after use."""

    def __init__(
        self,
        endpoints: Endpoints,
        credentials: ApiToken | DeferredToken | Login,
        clock: Timekeeper,
        patience: PollPolicy | None = None,
    ) -> None:
        self._http = ProxmoxHttpTransport(endpoints, credentials, clock)
        super().__init__(self._http, clock, patience)

    async def close(self) -> None:
        await self._http.close()
