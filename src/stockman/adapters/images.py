"""The HTTP transport for image factories and registries, with anonymous tokens."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from http import HTTPStatus
from urllib.parse import urlencode, urlsplit

import httpx2

from stockman.adapters import http, tls
from stockman.adapters.proxmox.endpoint import tls_context
from stockman.adapters.tls import AsyncCloseable
from stockman.model.errors import Denied, Refused, StockmanError
from stockman.model.problem import Problem
from stockman.ports.environment import Trust
from stockman.talos.image_api.client import ImageApi
from stockman.talos.image_api.references import (
    ImageRequest,
    ImageResponse,
    ImageStream,
    check_url,
    invalid_response_error,
    response_error,
    unreachable_error,
)

_DETAIL = re.compile(r'([a-z]+)="([^"]*)"', re.IGNORECASE)
_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")


def token_request(question: ImageRequest, reply: ImageResponse) -> ImageRequest:
    """Return the request for an anonymous token; raises `Denied` if none is offered."""
    scheme, _, details = reply.headers.get("www-authenticate", "").partition(" ")
    challenge = {name.lower(): value for name, value in _DETAIL.findall(details)}
    realm = challenge.get("realm", "")
    if scheme.lower() != "bearer" or not realm:
        raise Denied(_token_problem(question, "it offers no anonymous token"))
    parameters = urlencode(
        {name: challenge[name] for name in ("service", "scope") if name in challenge}
    )
    separator = "&" if "?" in realm else "?"
    url = f"{realm}{separator}{parameters}" if parameters else realm
    try:
        return ImageRequest(url=check_url(url))
    except Refused:
        raise Denied(_token_problem(question, "its token service does not use HTTPS")) from None


def read_token(question: ImageRequest, answer: ImageResponse) -> str:
    """Return the token in a reply; raises `Denied`."""
    try:
        content = json.loads(answer.body)
    except (ValueError, RecursionError):
        content = None
    token = (
        (content.get("token") or content.get("access_token")) if isinstance(content, dict) else None
    )
    if not isinstance(token, str) or not _TOKEN.fullmatch(token):
        raise Denied(_token_problem(question, "its token service returns no token"))
    return token


def _token_problem(question: ImageRequest, why: str) -> Problem:
    return Problem(
        code="images.denied",
        what="the image source denies public access",
        where=question.shown,
        why=why,
        fix="use a public repository or your own mirror",
    )


_MAX_BYTES = 16 << 20
_MOST_REDIRECTS = 5
_MOST_CONNECTIONS = 8
_KEEP_ALIVE = 30.0


class ImagesHttpTransport:
    """Sends requests over HTTPS, to loopback addresses over plain HTTP.

    The only credential is the anonymous token of a registry, which is sent to no other host. All
    requests may be repeated: registering a schematic twice returns the same id.
    """

    def __init__(self, trust: Trust, *, seconds: float, silence: float) -> None:
        self._seconds = seconds
        self._tokens: dict[tuple[str, str], str] = {}
        self._client = http.create_client(
            tls_context(trust),
            httpx2.Timeout(silence, connect=min(silence, 10.0)),
            http.connection_limits(_MOST_CONNECTIONS, _KEEP_ALIVE),
            trust_env=True,
            headers={"Accept-Encoding": "identity"},
        )

    async def close(self) -> None:
        """Close all connections."""
        await self._client.aclose()

    async def ask(self, question: ImageRequest) -> ImageResponse:
        try:
            async with asyncio.timeout(self._seconds):
                return await self._authorize_and_send(question)
        except TimeoutError:
            raise unreachable_error(
                question, f"no complete reply within {self._seconds:g} s"
            ) from None

    @asynccontextmanager
    async def stream(self, question: ImageRequest) -> AsyncIterator[ImageStream]:
        reply = await self._open(question, {})
        try:
            if reply.status_code != HTTPStatus.OK:
                yield ImageStream(response=await _read_answer(question, reply), chunks=_no_pieces())
            else:
                answer = ImageResponse(status=reply.status_code, headers=http.reply_headers(reply))
                yield ImageStream(response=answer, chunks=_read_pieces(question, reply))
        finally:
            await reply.aclose()

    async def _authorize_and_send(self, question: ImageRequest) -> ImageResponse:
        """Send a request, with an anonymous token if the registry requires one."""
        scope = _host_and_path(question)
        answer = await self._answer(question, self._authorization(scope))
        if answer.status != HTTPStatus.UNAUTHORIZED:
            return answer
        token_question = token_request(question, answer)
        token_answer = await self._answer(token_question, {})
        if token_answer.status != HTTPStatus.OK:
            raise response_error(token_question, token_answer)
        self._tokens[scope] = read_token(question, token_answer)
        return await self._answer(question, self._authorization(scope))

    def _authorization(self, scope: tuple[str, str]) -> dict[str, str]:
        token = self._tokens.get(scope)
        return {"Authorization": f"Bearer {token}"} if token else {}

    async def _answer(self, question: ImageRequest, extra: dict[str, str]) -> ImageResponse:
        reply = await self._open(question, extra)
        try:
            return await _read_answer(question, reply)
        finally:
            await reply.aclose()

    async def _open(self, question: ImageRequest, extra_headers: dict[str, str]) -> httpx2.Response:
        """Send a request and follow redirects; returns the reply before its body is read."""
        current, headers = question, {**question.headers, **extra_headers}
        for _ in range(_MOST_REDIRECTS + 1):
            reply = await self._send(current, headers)
            if not reply.has_redirect_location:
                return reply
            await reply.aclose()
            target = str(reply.url.join(reply.headers["Location"]))
            if _origin(target) != _origin(current.url):
                headers.pop("Authorization", None)
            current = ImageRequest(url=_check_redirect(question, target), method=question.method)
        raise invalid_response_error(question, "too many redirects")

    async def _send(self, question: ImageRequest, headers: dict[str, str]) -> httpx2.Response:
        try:
            return await http.send_twice(lambda: self._once(question, headers))
        except httpx2.TransportError as error:
            raise _transport_error(question, error) from error
        except httpx2.InvalidURL:
            raise invalid_response_error(question, "it redirects to an invalid address") from None

    async def _once(self, question: ImageRequest, headers: dict[str, str]) -> httpx2.Response:
        request = self._client.build_request(
            question.method, question.url, headers=headers, content=question.body or None
        )
        return await self._client.send(request, stream=True)


async def _read_answer(question: ImageRequest, reply: httpx2.Response) -> ImageResponse:
    with _translate_errors(question):
        body = await http.read_body(reply, _MAX_BYTES, partial(invalid_response_error, question))
    return ImageResponse(status=reply.status_code, headers=http.reply_headers(reply), body=body)


async def _read_pieces(question: ImageRequest, reply: httpx2.Response) -> AsyncIterator[bytes]:
    with _translate_errors(question):
        async for chunk in reply.aiter_bytes():
            yield chunk


@contextmanager
def _translate_errors(question: ImageRequest) -> Iterator[None]:
    try:
        yield
    except httpx2.TransportError as error:
        raise _transport_error(question, error) from error
    except httpx2.DecodingError as error:
        raise invalid_response_error(question, "its reply cannot be decompressed") from error


async def _no_pieces() -> AsyncIterator[bytes]:
    for chunk in tuple[bytes, ...]():
        yield chunk


def _transport_error(question: ImageRequest, error: httpx2.TransportError) -> StockmanError:
    flaw = tls.certificate_flaw(error)
    if flaw is not None:
        return unreachable_error(question, f"its certificate is not trusted: {flaw.verify_message}")
    if isinstance(error, httpx2.TimeoutException) and not isinstance(error, http.CONNECT_ERRORS):
        return unreachable_error(question, "it stopped sending data")
    return unreachable_error(question, tls.error_reason(error))


def _check_redirect(question: ImageRequest, url: str) -> str:
    try:
        return check_url(url)
    except Refused:
        raise invalid_response_error(question, "it redirects to an address without HTTPS") from None


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc


def _host_and_path(question: ImageRequest) -> tuple[str, str]:
    """Return the scope of a token: registry and repository."""
    parts = urlsplit(question.url)
    return parts.netloc, parts.path.rpartition("/manifests/")[0]


class HttpImages(ImageApi, AsyncCloseable):
    """`ImageSource` over HTTPS, to be closed after use.

    `seconds` is the timeout of a request; a download may take longer, but `silence` limits the time
    without data.
    """

    def __init__(
        self,
        factory_url: str,
        trust: Trust = Trust(),  # noqa: B008  # a frozen record
        *,
        seconds: float = 60.0,
        silence: float = 60.0,
    ) -> None:
        self._http_transport = ImagesHttpTransport(trust, seconds=seconds, silence=silence)
        super().__init__(self._http_transport, factory_url)

    async def close(self) -> None:
        await self._http_transport.close()
