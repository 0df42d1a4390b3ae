"""Anonymous tokens of registries: what a challenge asks for, and where it is to be had."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from urllib.parse import urlencode, urlsplit

import httpx2

from stockman import __version__
from stockman.adapters.closing import AsyncCloseable
from stockman.adapters.proxmox.endpoint import tls_context
from stockman.adapters.proxmox.errors import certificate_flaw, error_reason
from stockman.model.errors import Denied, Refused, StockmanError
from stockman.model.problem import Problem
from stockman.ports.environment import Trust
from stockman.talos.image_api.client import ImageApi
from stockman.talos.image_api.errors import (
    invalid_response_error,
    response_error,
    unreachable_error,
)
from stockman.talos.image_api.references import check_url
from stockman.talos.image_api.transport import ImageRequest, ImageResponse, ImageStream

_DETAIL = re.compile(r'([a-z]+)="([^"]*)"', re.IGNORECASE)
_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")


def token_request(question: ImageRequest, refused: ImageResponse) -> ImageRequest:
    """Where the token for a question is given out; `Denied` where none is for everybody."""
    scheme, _, details = refused.headers.get("www-authenticate", "").partition(" ")
    asked = {name.lower(): value for name, value in _DETAIL.findall(details)}
    realm = asked.get("realm", "")
    if scheme.lower() != "bearer" or not realm:
        raise Denied(_token_problem(question, "it offers no anonymous token"))
    wanted = urlencode({name: asked[name] for name in ("service", "scope") if name in asked})
    separator = "&" if "?" in realm else "?"
    url = f"{realm}{separator}{wanted}" if wanted else realm
    try:
        return ImageRequest(url=check_url(url))
    except Refused:
        raise Denied(_token_problem(question, "its token is not given out over HTTPS")) from None


def read_token(question: ImageRequest, answer: ImageResponse) -> str:
    """The token that was given; `Denied` where there is none."""
    try:
        said = json.loads(answer.body)
    except (ValueError, RecursionError):
        said = None
    found = (said.get("token") or said.get("access_token")) if isinstance(said, dict) else None
    if not isinstance(found, str) or not _TOKEN.fullmatch(found):
        raise Denied(_token_problem(question, "its token service answers without a token"))
    return found


def _token_problem(question: ImageRequest, why: str) -> Problem:
    return Problem(
        code="images.denied",
        what="the source of images does not show this to the public",
        where=question.shown,
        why=why,
        fix="take it from a public repository or a mirror of your own",
    )


_NOISY_LOGGERS = ("httpx2", "httpcore2")
_MAX_BYTES = 16 << 20
_MOST_REDIRECTS = 5
_MOST_CONNECTIONS = 8
_KEEP_ALIVE = 30.0
_CONNECT_ERRORS = (httpx2.ConnectError, httpx2.ConnectTimeout)
_DEAD_CONNECTION = (
    httpx2.ReadError,
    httpx2.WriteError,
    httpx2.CloseError,
    httpx2.RemoteProtocolError,
)


class ImagesHttpTransport:
    """Carries questions over HTTPS; to loopback addresses over plain HTTP.

    It sends no credentials but the anonymous token that a registry gives out, and that to no other
    host. All that is asked may be asked twice: a schematic keeps its id.
    """

    def __init__(self, trust: Trust, *, seconds: float, silence: float) -> None:
        self._seconds = seconds
        self._tokens: dict[tuple[str, str], str] = {}
        for name in _NOISY_LOGGERS:
            logging.getLogger(name).setLevel(logging.WARNING)
        self._client = httpx2.AsyncClient(
            verify=tls_context(trust),
            follow_redirects=False,
            timeout=httpx2.Timeout(silence, connect=min(silence, 10.0)),
            limits=httpx2.Limits(
                max_connections=_MOST_CONNECTIONS,
                max_keepalive_connections=_MOST_CONNECTIONS,
                keepalive_expiry=_KEEP_ALIVE,
            ),
            headers={"User-Agent": f"stockman/{__version__}", "Accept-Encoding": "identity"},
        )

    async def close(self) -> None:
        """Close all connections."""
        await self._client.aclose()

    async def ask(self, question: ImageRequest) -> ImageResponse:
        try:
            async with asyncio.timeout(self._seconds):
                return await self._admitted(question)
        except TimeoutError:
            raise unreachable_error(
                question, f"no full answer within {self._seconds:g} s"
            ) from None

    @asynccontextmanager
    async def stream(self, question: ImageRequest) -> AsyncIterator[ImageStream]:
        reply = await self._opened(question, {})
        try:
            if reply.status_code != HTTPStatus.OK:
                yield ImageStream(response=await _read_answer(question, reply), chunks=_no_pieces())
            else:
                answer = ImageResponse(status=reply.status_code, headers=_headers(reply))
                yield ImageStream(response=answer, chunks=_read_pieces(question, reply))
        finally:
            await reply.aclose()

    async def _admitted(self, question: ImageRequest) -> ImageResponse:
        """The answer, with the token of the registry where it wants one."""
        place = _host_and_path(question)
        answer = await self._answer(question, self._authorization(place))
        if answer.status != HTTPStatus.UNAUTHORIZED:
            return answer
        asked = token_request(question, answer)
        given = await self._answer(asked, {})
        if given.status != HTTPStatus.OK:
            raise response_error(asked, given)
        self._tokens[place] = read_token(question, given)
        return await self._answer(question, self._authorization(place))

    def _authorization(self, place: tuple[str, str]) -> dict[str, str]:
        token = self._tokens.get(place)
        return {"Authorization": f"Bearer {token}"} if token else {}

    async def _answer(self, question: ImageRequest, extra: dict[str, str]) -> ImageResponse:
        reply = await self._opened(question, extra)
        try:
            return await _read_answer(question, reply)
        finally:
            await reply.aclose()

    async def _opened(self, question: ImageRequest, extra: dict[str, str]) -> httpx2.Response:
        """The beginning of an answer, wherever redirects lead."""
        at, headers = question, {**question.headers, **extra}
        for _ in range(_MOST_REDIRECTS + 1):
            reply = await self._sent(at, headers)
            if not reply.has_redirect_location:
                return reply
            await reply.aclose()
            following = str(reply.url.join(reply.headers["Location"]))
            if _origin(following) != _origin(at.url):
                headers.pop("Authorization", None)
            at = ImageRequest(url=_check_redirect(question, following), method=question.method)
        raise invalid_response_error(question, "it redirects again and again")

    async def _sent(self, question: ImageRequest, headers: dict[str, str]) -> httpx2.Response:
        try:
            try:
                return await self._once(question, headers)
            except _DEAD_CONNECTION:
                return await self._once(question, headers)
        except httpx2.TransportError as error:
            raise _transport_error(question, error) from error
        except httpx2.InvalidURL:
            raise invalid_response_error(question, "it redirects to what cannot be read") from None

    async def _once(self, question: ImageRequest, headers: dict[str, str]) -> httpx2.Response:
        request = self._client.build_request(
            question.method, question.url, headers=headers, content=question.body or None
        )
        return await self._client.send(request, stream=True)


async def _read_answer(question: ImageRequest, reply: httpx2.Response) -> ImageResponse:
    body = bytearray()
    async for piece in _read_pieces(question, reply):
        body += piece
        if len(body) > _MAX_BYTES:
            raise invalid_response_error(question, f"its answer is over {_MAX_BYTES >> 20} MiB")
    return ImageResponse(status=reply.status_code, headers=_headers(reply), body=bytes(body))


async def _read_pieces(question: ImageRequest, reply: httpx2.Response) -> AsyncIterator[bytes]:
    try:
        async for piece in reply.aiter_bytes():
            yield piece
    except httpx2.TransportError as error:
        raise _transport_error(question, error) from error
    except httpx2.DecodingError as error:
        raise invalid_response_error(question, "its answer cannot be unpacked") from error


async def _no_pieces() -> AsyncIterator[bytes]:
    for piece in tuple[bytes, ...]():
        yield piece


def _transport_error(question: ImageRequest, error: httpx2.TransportError) -> StockmanError:
    flaw = certificate_flaw(error)
    if flaw is not None:
        return unreachable_error(question, f"its certificate is not trusted: {flaw.verify_message}")
    if isinstance(error, httpx2.TimeoutException) and not isinstance(error, _CONNECT_ERRORS):
        return unreachable_error(question, "it fell silent in the middle")
    return unreachable_error(question, error_reason(error))


def _headers(reply: httpx2.Response) -> dict[str, str]:
    return {name.lower(): value for name, value in reply.headers.items()}


def _check_redirect(question: ImageRequest, url: str) -> str:
    try:
        return check_url(url)
    except Refused:
        raise invalid_response_error(
            question, "it redirects to a place that is not HTTPS"
        ) from None


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc


def _host_and_path(question: ImageRequest) -> tuple[str, str]:
    """What a token is good for: one repository of one registry."""
    parts = urlsplit(question.url)
    return parts.netloc, parts.path.rpartition("/manifests/")[0]


class HttpImages(ImageApi, AsyncCloseable):
    """`ports.Images` over HTTPS, to be closed after use.

    `seconds` is what one question may take; a download may take any time, but must not fall silent
    for longer than `silence`.
    """

    def __init__(
        self,
        factory_url: str,
        trust: Trust = Trust(),  # noqa: B008  # a record never changes
        *,
        seconds: float = 60.0,
        silence: float = 60.0,
    ) -> None:
        self._http = ImagesHttpTransport(trust, seconds=seconds, silence=silence)
        super().__init__(self._http, factory_url)

    async def close(self) -> None:
        await self._http.close()
