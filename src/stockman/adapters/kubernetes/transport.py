"""The HTTP transport: connections are reused, a read is repeated once."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from functools import partial
from pathlib import Path

import httpx2

from stockman.adapters import http, tls
from stockman.adapters.kubernetes.credentials import (
    Credentials,
    KubernetesEndpoint,
    TlsIdentity,
    format_address,
)
from stockman.adapters.tls import AsyncCloseable
from stockman.kubernetes import problems
from stockman.kubernetes.client import KubernetesClient
from stockman.kubernetes.errors import lost_reply, reply_error, unexpected_answer
from stockman.kubernetes.kubeconfig import read_context
from stockman.kubernetes.transport import Reply, Request
from stockman.model.errors import Refused, StockmanError, Unreachable
from stockman.model.secret import MASK, Secret
from stockman.ports.environment import Trust
from stockman.ports.system import Clock

_MAX_CONNECTIONS = 64
_MAX_BYTES = 256 << 20
_HEAD_SECONDS = 20.0
"""Timeout for the headers of a stream, which the server sends before the first event."""


class KubernetesHttpTransport:
    """Sends requests over HTTPS.

    Credentials are sent only in headers and in the TLS handshake. Proxy settings and `.netrc` are
    ignored, and redirects are not followed.
    """

    def __init__(self, endpoint: KubernetesEndpoint, clock: Clock) -> None:
        self._endpoint = endpoint
        self._server = endpoint.server()
        self._credentials = Credentials(endpoint, clock)
        self._identity: TlsIdentity | None = None
        self._client: httpx2.AsyncClient | None = None
        self._outdated: list[httpx2.AsyncClient] = []

    async def close(self) -> None:
        """Close all connections."""
        for client in (*self._outdated, *filter(None, [self._client])):
            await client.aclose()

    async def call(self, request: Request) -> Reply:
        client, headers = await self._ready()
        seconds = min(request.seconds, self._endpoint.timeouts.longest)
        try:
            async with asyncio.timeout(seconds):
                return await http.send_twice(
                    lambda: self._send(client, request, headers), is_repeatable=request.is_read
                )
        except TimeoutError:
            raise lost_reply(request, f"no complete reply within {seconds:g} s") from None
        except http.CONNECT_ERRORS as error:
            raise self._connection_error(error) from error
        except http.CONNECTION_ERRORS as error:
            raise lost_reply(request, tls.error_reason(error)) from error
        except httpx2.DecodingError as error:
            raise unexpected_answer(request, "its reply cannot be decompressed") from error

    async def stream(self, request: Request) -> AsyncGenerator[bytes, None]:
        has_data = False
        for is_last in (False, True):
            try:
                async with aclosing(self._chunks(request)) as chunks:
                    async for chunk in chunks:
                        has_data = True
                        yield chunk
                return
            except http.CONNECT_ERRORS as error:
                raise self._connection_error(error) from error
            except http.CONNECTION_ERRORS as error:
                if has_data or is_last:
                    raise lost_reply(request, tls.error_reason(error)) from error
            except httpx2.DecodingError as error:
                raise unexpected_answer(request, "its reply cannot be decompressed") from error

    async def _chunks(self, request: Request) -> AsyncGenerator[bytes, None]:
        client, headers = await self._ready()
        longest = self._endpoint.timeouts.longest
        silence, head = min(request.seconds, longest), min(_HEAD_SECONDS, longest)
        try:
            async with asyncio.timeout(head):
                http_request = self._build(
                    client, request, {**headers, "Accept-Encoding": "identity"}
                )
                reply = await client.send(http_request, stream=True)
        except TimeoutError:
            raise lost_reply(request, f"no response within {head:g} s") from None
        try:
            if not httpx2.codes.is_success(reply.status_code):
                async with asyncio.timeout(head):
                    error_reply = await self._read_reply(request, reply)
                raise reply_error(request, error_reply)
            chunks = reply.aiter_bytes()
            while True:
                async with asyncio.timeout(silence):
                    chunk = await anext(chunks, None)
                if chunk is None:
                    return
                yield chunk
        except TimeoutError:
            raise lost_reply(request, f"no data within {silence:g} s") from None
        finally:
            await reply.aclose()

    async def _send(
        self, client: httpx2.AsyncClient, request: Request, headers: dict[str, str]
    ) -> Reply:
        reply = await client.send(self._build(client, request, headers), stream=True)
        try:
            return await self._read_reply(request, reply)
        finally:
            await reply.aclose()

    def _build(
        self, client: httpx2.AsyncClient, request: Request, headers: dict[str, str]
    ) -> httpx2.Request:
        target = f"{self._endpoint.base}{request.target}".encode("ascii")
        server = self._server
        url = httpx2.URL(scheme="https", host=server.host, port=server.port, raw_path=target)
        all_headers = {"Accept": request.accepts, "Host": self._endpoint.authority, **headers}
        if request.body:
            all_headers["Content-Type"] = request.content_type
        return client.build_request(
            request.method,
            url,
            content=request.body or None,
            headers=all_headers,
            extensions={"sni_hostname": server.name},
        )

    async def _read_reply(self, request: Request, reply: httpx2.Response) -> Reply:
        content = await http.read_body(reply, _MAX_BYTES, partial(unexpected_answer, request))
        if reply.is_error:
            for secret in self._credentials.secrets():
                content = content.replace(secret.encode(), MASK.encode())
        return Reply(status=reply.status_code, body=content, headers=http.reply_headers(reply))

    async def _ready(self) -> tuple[httpx2.AsyncClient, dict[str, str]]:
        """Return a client with the current certificate, and the authentication headers."""
        identity = await self._credentials.identity()
        headers = await self._credentials.headers()
        if self._client is None or identity != self._identity:
            if self._client is not None:
                self._outdated.append(self._client)
            self._identity, self._client = identity, self._create_client(identity)
        return self._client, headers

    def _create_client(self, identity: TlsIdentity) -> httpx2.AsyncClient:
        timeouts = self._endpoint.timeouts
        return http.create_client(
            _tls_context(identity, format_address(self._server)),
            httpx2.Timeout(None, connect=timeouts.connect),
            http.connection_limits(_MAX_CONNECTIONS, timeouts.keep_alive),
            headers={"Accept-Encoding": "gzip"},
        )

    def _connection_error(self, error: httpx2.TransportError) -> StockmanError:
        flaw = tls.certificate_flaw(error)
        where = format_address(self._server)
        if flaw is None:
            return Unreachable(problems.unreachable(where, tls.error_reason(error)))
        return Refused(problems.certificate_failure(where, tls.certificate_reason(flaw)))


def _tls_context(identity: TlsIdentity, where: str) -> ssl.SSLContext:
    try:
        context = tls.verifying_context(Trust(ca=identity.ca.encode() if identity.ca else None))
        if identity.key is not None:
            tls.load_client_certificate(context, identity.crt, identity.key)
    except tls.InvalidCa as error:
        raise Refused(problems.kubeconfig_failure(where, f"its CA is invalid: {error}")) from None
    except (ssl.SSLError, ValueError):
        why = "certificate and key are invalid or do not match"
        raise Refused(problems.kubeconfig_failure(where, why)) from None
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


class HttpKubernetes(KubernetesClient, AsyncCloseable):
    """A Kubernetes client over HTTPS, to be closed after use."""

    def __init__(self, endpoint: KubernetesEndpoint, clock: Clock) -> None:
        self._http_transport = KubernetesHttpTransport(endpoint, clock)
        super().__init__(self._http_transport, clock)

    async def close(self) -> None:
        await self._http_transport.close()


def endpoint_from_kubeconfig(
    kubeconfig: Path,
    context: str = "",
    *,
    connect: Mapping[str, str] | None = None,
    allows_plugins: bool = False,
) -> KubernetesEndpoint:
    """Read the endpoint from a kubeconfig; raises `Refused`."""
    try:
        text = kubeconfig.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        raise Refused(
            problems.kubeconfig_failure(str(kubeconfig), "it is not a valid URL")
        ) from None
    return KubernetesEndpoint(
        context=read_context(str(kubeconfig), Secret(text, resolved=True), context),
        directory=kubeconfig.parent,
        connect=connect or {},
        allows_plugins=allows_plugins,
    )
