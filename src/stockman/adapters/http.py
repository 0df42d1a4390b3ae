"""What the HTTP transports share: clients, connection errors, and reading replies."""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import httpx2

from stockman import __version__
from stockman.adapters.request_log import log_request

T = TypeVar("T")
CONNECT_ERRORS = (httpx2.ConnectError, httpx2.ConnectTimeout)
"""Nothing was sent."""
CONNECTION_ERRORS = (
    httpx2.ReadError,
    httpx2.WriteError,
    httpx2.CloseError,
    httpx2.RemoteProtocolError,
)
"""The request may have been executed."""


class LoggedClient(httpx2.AsyncClient):
    """A client that logs its requests; the duration ends with the headers of the reply."""

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        started = asyncio.get_running_loop().time()
        url = request.url
        what = f"{request.method} {url.scheme}://{url.host}:{url.port or 443}{url.path}"
        try:
            reply = await super().send(request, **options)
        except (httpx2.TransportError, TimeoutError, asyncio.CancelledError) as error:
            log_request(what, type(error).__name__, started, is_read=False)
            raise
        is_read = request.method in ("GET", "HEAD") and not reply.is_error
        log_request(what, str(reply.status_code), started, is_read=is_read)
        return reply


def create_client(
    verify: ssl.SSLContext | bool,
    timeout: httpx2.Timeout,
    limits: httpx2.Limits | None = None,
    *,
    trust_env: bool = False,
    headers: dict[str, str],
) -> httpx2.AsyncClient:
    """Return a client that follows no redirects; `trust_env` allows proxies and `.netrc`."""
    for name in ("httpx2", "httpcore2"):
        # They log replies, and a faulty server may repeat the token.
        logging.getLogger(name).setLevel(logging.WARNING)
    return LoggedClient(
        verify=verify,
        trust_env=trust_env,
        follow_redirects=False,
        timeout=timeout,
        limits=limits or connection_limits(100, 5.0),
        headers={"User-Agent": f"stockman/{__version__}", **headers},
    )


def connection_limits(connections: int, keep_alive: float) -> httpx2.Limits:
    """Return limits by which all connections are kept for some seconds."""
    return httpx2.Limits(
        max_connections=connections,
        max_keepalive_connections=connections,
        keepalive_expiry=keep_alive,
    )


async def send_twice(send: Callable[[], Awaitable[T]], *, is_repeatable: bool = True) -> T:
    """Send a request, and send a repeatable one again if the connection is lost."""
    try:
        return await send()
    except CONNECTION_ERRORS:
        if not is_repeatable:
            raise
        return await send()


async def read_body(
    reply: httpx2.Response, limit: int, too_large: Callable[[str], Exception]
) -> bytes:
    """Return the body of a reply; raises the error that `too_large` makes of the reason."""
    body = bytearray()
    async for chunk in reply.aiter_bytes():
        body += chunk
        if len(body) > limit:
            raise too_large(f"its reply is larger than {limit >> 20} MiB")
    return bytes(body)


def reply_headers(reply: httpx2.Response) -> dict[str, str]:
    """Return the headers of a reply with names in lower case."""
    return {name.lower(): value for name, value in reply.headers.items()}
