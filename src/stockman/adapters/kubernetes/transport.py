"""The wire over HTTPS: connections used again, a read repeated once, nothing else retried."""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from pathlib import Path

import httpx2

from stockman import __version__
from stockman.adapters import tls
from stockman.adapters.closing import AsyncCloseable
from stockman.adapters.kubernetes.credentials import Credentials, TlsIdentity
from stockman.adapters.kubernetes.endpoint import KubernetesEndpoint, format_address
from stockman.adapters.proxmox.errors import certificate_flaw, error_reason, lower_first
from stockman.kubernetes import problems
from stockman.kubernetes.client import KubernetesClient
from stockman.kubernetes.errors import lost_reply, reply_error, unexpected_answer
from stockman.kubernetes.kubeconfig import read_context
from stockman.kubernetes.transport import Reply, Request
from stockman.model.errors import Refused, StockmanError, Unreachable
from stockman.model.secret import MASK, Secret
from stockman.ports.environment import Trust
from stockman.ports.system import Clock

_NOISY_LOGGERS = ("httpx2", "httpcore2")
_MAX_CONNECTIONS = 64
_MAX_BYTES = 256 << 20
_HEAD_SECONDS = 20.0
"""How long the beginning of a stream may take: an answer begins before there is anything in it."""
_CONNECT_ERRORS = (httpx2.ConnectError, httpx2.ConnectTimeout)
_DEAD_CONNECTION = (
    httpx2.ReadError,
    httpx2.WriteError,
    httpx2.CloseError,
    httpx2.RemoteProtocolError,
)


class KubernetesHttpTransport:
    """Carries calls over HTTPS.

    Credentials stand in headers and in the handshake only. Settings of proxies and `.netrc` are
    not looked at: what is dialled is what was given. Redirects are answers, and not followed.
    """

    def __init__(self, endpoint: KubernetesEndpoint, clock: Clock) -> None:
        self._endpoint = endpoint
        self._door = endpoint.door()
        self._credentials = Credentials(endpoint, clock)
        self._identity: TlsIdentity | None = None
        self._client: httpx2.AsyncClient | None = None
        self._outdated: list[httpx2.AsyncClient] = []
        for name in _NOISY_LOGGERS:
            # They write down what servers say, and a broken server says the token back.
            logging.getLogger(name).setLevel(logging.WARNING)

    async def close(self) -> None:
        """Close all connections."""
        for client in (*self._outdated, *filter(None, [self._client])):
            await client.aclose()

    async def call(self, request: Request) -> Reply:
        client, headers = await self._ready()
        seconds = min(request.seconds, self._endpoint.timeouts.longest)
        try:
            async with asyncio.timeout(seconds):
                return await self._once_or_twice(client, request, headers)
        except TimeoutError:
            raise lost_reply(request, f"no full answer within {seconds:g} s") from None
        except _CONNECT_ERRORS as error:
            raise self._not_connected(error) from error
        except _DEAD_CONNECTION as error:
            raise lost_reply(request, error_reason(error)) from error
        except httpx2.DecodingError as error:
            raise unexpected_answer(request, "its answer cannot be unpacked") from error

    async def stream(self, request: Request) -> AsyncGenerator[bytes, None]:
        begun = False
        for is_last in (False, True):
            try:
                async with aclosing(self._pieces(request)) as pieces:
                    async for piece in pieces:
                        begun = True
                        yield piece
                return
            except _CONNECT_ERRORS as error:
                raise self._not_connected(error) from error
            except _DEAD_CONNECTION as error:
                if begun or is_last:
                    raise lost_reply(request, error_reason(error)) from error
            except httpx2.DecodingError as error:
                raise unexpected_answer(request, "its answer cannot be unpacked") from error

    async def _pieces(self, request: Request) -> AsyncGenerator[bytes, None]:
        client, headers = await self._ready()
        longest = self._endpoint.timeouts.longest
        silence, head = min(request.seconds, longest), min(_HEAD_SECONDS, longest)
        try:
            async with asyncio.timeout(head):
                sent = self._built(client, request, {**headers, "Accept-Encoding": "identity"})
                reply = await client.send(sent, stream=True)
        except TimeoutError:
            raise lost_reply(request, f"no answer within {head:g} s") from None
        try:
            if not httpx2.codes.is_success(reply.status_code):
                async with asyncio.timeout(head):
                    found = await self._whole(request, reply)
                raise reply_error(request, found)
            pieces = reply.aiter_bytes()
            while True:
                async with asyncio.timeout(silence):
                    piece = await anext(pieces, None)
                if piece is None:
                    return
                yield piece
        except TimeoutError:
            raise lost_reply(request, f"nothing came within {silence:g} s") from None
        finally:
            await reply.aclose()

    async def _once_or_twice(
        self, client: httpx2.AsyncClient, request: Request, headers: dict[str, str]
    ) -> Reply:
        try:
            return await self._sent(client, request, headers)
        except _DEAD_CONNECTION:
            if not request.is_read:
                raise
            return await self._sent(client, request, headers)

    async def _sent(
        self, client: httpx2.AsyncClient, request: Request, headers: dict[str, str]
    ) -> Reply:
        reply = await client.send(self._built(client, request, headers), stream=True)
        try:
            return await self._whole(request, reply)
        finally:
            await reply.aclose()

    def _built(
        self, client: httpx2.AsyncClient, request: Request, headers: dict[str, str]
    ) -> httpx2.Request:
        target = f"{self._endpoint.base}{request.target}".encode("ascii")
        door = self._door
        url = httpx2.URL(scheme="https", host=door.host, port=door.port, raw_path=target)
        about = {"Accept": request.accepts, "Host": self._endpoint.authority, **headers}
        if request.body:
            about["Content-Type"] = request.content_type
        return client.build_request(
            request.method,
            url,
            content=request.body or None,
            headers=about,
            extensions={"sni_hostname": door.name},
        )

    async def _whole(self, request: Request, reply: httpx2.Response) -> Reply:
        body = bytearray()
        async for piece in reply.aiter_bytes():
            body += piece
            if len(body) > _MAX_BYTES:
                raise unexpected_answer(request, f"its answer is over {_MAX_BYTES >> 20} MiB")
        found = bytes(body)
        if reply.is_error:
            for secret in self._credentials.secrets():
                found = found.replace(secret.encode(), MASK.encode())
        headers = {name.lower(): value for name, value in reply.headers.items()}
        return Reply(status=reply.status_code, body=found, headers=headers)

    async def _ready(self) -> tuple[httpx2.AsyncClient, dict[str, str]]:
        """Connections for who we are now, and what lets a call in."""
        identity = await self._credentials.identity()
        headers = await self._credentials.headers()
        if self._client is None or identity != self._identity:
            if self._client is not None:
                self._outdated.append(self._client)
            self._identity, self._client = identity, self._made(identity)
        return self._client, headers

    def _made(self, identity: TlsIdentity) -> httpx2.AsyncClient:
        timeouts = self._endpoint.timeouts
        return httpx2.AsyncClient(
            verify=_tls_context(identity, format_address(self._door)),
            trust_env=False,
            follow_redirects=False,
            timeout=httpx2.Timeout(None, connect=timeouts.connect),
            limits=httpx2.Limits(
                max_connections=_MAX_CONNECTIONS,
                max_keepalive_connections=_MAX_CONNECTIONS,
                keepalive_expiry=timeouts.keep_alive,
            ),
            headers={"User-Agent": f"stockman/{__version__}", "Accept-Encoding": "gzip"},
        )

    def _not_connected(self, error: httpx2.TransportError) -> StockmanError:
        flaw = certificate_flaw(error)
        where = format_address(self._door)
        if flaw is None:
            return Unreachable(problems.unreachable(where, error_reason(error)))
        told = str(getattr(flaw, "verify_message", "") or flaw).rstrip(".")
        return Refused(problems.certificate_failure(where, lower_first(told)))


def _tls_context(identity: TlsIdentity, where: str) -> ssl.SSLContext:
    try:
        made = tls.verifying_context(Trust(ca=identity.ca.encode() if identity.ca else None))
        if identity.key is not None:
            tls.load_client_certificate(made, identity.crt, identity.key)
    except tls.InvalidCa as error:
        raise Refused(problems.kubeconfig_failure(where, f"of its authority {error}")) from None
    except (ssl.SSLError, ValueError):
        why = "certificate and key cannot be read, or do not belong together"
        raise Refused(problems.kubeconfig_failure(where, why)) from None
    made.minimum_version = ssl.TLSVersion.TLSv1_2
    return made


class HttpKubernetes(KubernetesClient, AsyncCloseable):
    """`ports.Kubernetes` over HTTPS, to be closed after use."""

    def __init__(self, endpoint: KubernetesEndpoint, clock: Clock) -> None:
        self._http = KubernetesHttpTransport(endpoint, clock)
        super().__init__(self._http, clock)

    async def close(self) -> None:
        await self._http.close()


def endpoint_from_kubeconfig(
    kubeconfig: Path,
    context: str = "",
    *,
    connect: Mapping[str, str] | None = None,
    allows_plugins: bool = False,
) -> KubernetesEndpoint:
    """The cluster that a kubeconfig names; `Refused` where it cannot be used."""
    try:
        text = kubeconfig.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        raise Refused(problems.kubeconfig_failure(str(kubeconfig), "it cannot be read")) from None
    return KubernetesEndpoint(
        context=read_context(str(kubeconfig), Secret(text, resolved=True), context),
        directory=kubeconfig.parent,
        connect=connect or {},
        allows_plugins=allows_plugins,
    )
