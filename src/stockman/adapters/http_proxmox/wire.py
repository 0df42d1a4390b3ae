"""The wire over HTTPS: connections used again, a read repeated once, nothing else retried."""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import AsyncIterator, Mapping
from http import HTTPStatus
from urllib.parse import urlencode

import httpx2

from stockman import __version__
from stockman.adapters.http_proxmox import failures
from stockman.adapters.http_proxmox.answers import Answer, Known, reply_of
from stockman.adapters.http_proxmox.connections import Connections
from stockman.adapters.http_proxmox.credentials import ApiToken, LateToken, Login
from stockman.adapters.http_proxmox.endpoint import BASE, Endpoints, shown
from stockman.adapters.http_proxmox.multipart import Multipart
from stockman.adapters.http_proxmox.pinning import WrongCertificate, context, seen
from stockman.adapters.http_proxmox.tickets import Tickets
from stockman.model.errors import StockmanError
from stockman.ports.clock import Clock
from stockman.ports.probe import Door
from stockman.proxmox.refusals import odd_answer, unknown_outcome
from stockman.proxmox.wire import Reply, Request

_TALKATIVE = ("httpx2", "httpcore2")
_MOST_BYTES = 64 << 20
_NOT_CONNECTED = (httpx2.ConnectError, httpx2.ConnectTimeout)
_DEAD_CONNECTION = (
    httpx2.ReadError,
    httpx2.WriteError,
    httpx2.CloseError,
    httpx2.RemoteProtocolError,
)


class HttpWire:
    """Carries calls over HTTPS to whichever endpoint takes the connection.

    Credentials stand in headers only. Settings of proxies and `.netrc` are not looked at: what is
    dialled is what was given.
    """

    def __init__(
        self, endpoints: Endpoints, credentials: ApiToken | LateToken | Login, clock: Clock
    ) -> None:
        self._doors = endpoints.doors()
        self._timeouts = endpoints.timeouts
        self._tickets = Tickets(credentials, clock) if isinstance(credentials, Login) else None
        self._token = None if isinstance(credentials, Login) else credentials
        self._given = credentials
        self._at = 0
        for name in _TALKATIVE:
            # They write down what servers say, and a broken server says the token back.
            logging.getLogger(name).setLevel(logging.WARNING)
        self._verify = context(endpoints.trust)
        self._connections = Connections(self._client)

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
        return reply_of(request, answer, self._known())

    def _is_renewed(self, used: Mapping[str, str]) -> bool:
        """Whether the token was made anew since it was read: by the same run, or by somebody."""
        return isinstance(self._token, LateToken) and self._token.is_renewed(used["Authorization"])

    async def _credentials(self, request: Request) -> dict[str, str]:
        if self._token is not None:
            return {"Authorization": self._token.header()}
        return {} if self._tickets is None else await self._tickets.headers(request, self._log_in)

    async def _log_in(self, request: Request) -> Reply:
        return reply_of(request, await self._answer(request, {}), self._known())

    def _known(self) -> Known:
        asker = self._given.asker
        if self._token is not None:
            token = self._token.secret.reveal()
            return Known(asker=asker, secrets=(token,), token=token)
        return Known(asker=asker, secrets=() if self._tickets is None else self._tickets.secrets())

    async def _answer(self, request: Request, headers: dict[str, str]) -> Answer:
        """The answer of the first endpoint that takes the connection."""
        trouble: StockmanError | None = None
        for _ in self._doors:
            at = self._at
            door = self._doors[at]
            try:
                return await self._answer_of(door, request, headers)
            except _NOT_CONNECTED as error:
                trouble = await self._not_connected(door, error)
                if failures.is_final(trouble):
                    break
                if self._at == at:
                    self._at = (at + 1) % len(self._doors)
        raise trouble or odd_answer(request, "there is no endpoint")

    async def _answer_of(self, door: Door, request: Request, headers: dict[str, str]) -> Answer:
        seconds = self._seconds(request)
        try:
            async with asyncio.timeout(seconds):
                return await self._once_or_twice(door, request, headers)
        except TimeoutError:
            why = f"no full answer within {seconds:g} s"
            if request.is_read:
                raise failures.unreachable(shown(door), why) from None
            raise unknown_outcome(request, why) from None
        except _DEAD_CONNECTION as error:
            why = failures.reason(error)
            if request.is_read:
                raise failures.unreachable(shown(door), why) from error
            raise unknown_outcome(request, why) from error
        except httpx2.DecodingError as error:
            raise odd_answer(request, "its answer cannot be unpacked") from error

    async def _once_or_twice(self, door: Door, request: Request, headers: dict[str, str]) -> Answer:
        try:
            return await self._sent(door, request, headers)
        except _DEAD_CONNECTION:
            if not request.is_read:
                raise
            return await self._sent(door, request, headers)

    async def _sent(self, door: Door, request: Request, headers: dict[str, str]) -> Answer:
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
                if len(body) > _MOST_BYTES:
                    raise odd_answer(request, f"its answer is over {_MOST_BYTES >> 20} MiB")
            return Answer(
                status=reply.status_code,
                reason=reply.reason_phrase,
                body=bytes(body),
                at=shown(door),
            )

    async def _not_connected(self, door: Door, error: httpx2.TransportError) -> StockmanError:
        flaw = failures.certificate_flaw(error)
        if flaw is None:
            return failures.unreachable(shown(door), failures.reason(error))
        if isinstance(flaw, WrongCertificate):
            return failures.not_pinned(shown(door), str(flaw))
        found = await seen(door, self._timeouts.connect)
        why = failures.uncapitalised(_verified(flaw))
        return failures.untrusted(shown(door), why, found.fingerprint if found else "")

    def _seconds(self, request: Request) -> float:
        if request.upload is not None:
            return self._timeouts.upload
        return self._timeouts.read if request.is_read else self._timeouts.write


def _verified(flaw: ssl.SSLCertVerificationError) -> str:
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
