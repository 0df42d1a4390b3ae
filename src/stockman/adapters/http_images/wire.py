"""The wire over HTTP: connections used again, a dead one replaced once, redirects watched."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from urllib.parse import urlsplit

import httpx2

from stockman import __version__
from stockman.adapters.http_images.tokens import token_in, token_question
from stockman.adapters.http_proxmox.failures import certificate_flaw, reason
from stockman.adapters.http_proxmox.pinning import context
from stockman.model.errors import Refused, StockmanError
from stockman.ports.probe import Trust
from stockman.talos.image_api.places import checked
from stockman.talos.image_api.refusals import odd_answer, refusal, unreachable
from stockman.talos.image_api.wire import Answer, Question, Stream

_TALKATIVE = ("httpx2", "httpcore2")
_MOST_BYTES = 16 << 20
_MOST_REDIRECTS = 5
_MOST_CONNECTIONS = 8
_KEEP_ALIVE = 30.0
_NOT_CONNECTED = (httpx2.ConnectError, httpx2.ConnectTimeout)
_DEAD_CONNECTION = (
    httpx2.ReadError,
    httpx2.WriteError,
    httpx2.CloseError,
    httpx2.RemoteProtocolError,
)


class HttpImagesWire:
    """Carries questions over HTTPS; to loopback addresses over plain HTTP.

    It sends no credentials but the anonymous token that a registry gives out, and that to no other
    host. All that is asked may be asked twice: a schematic keeps its id.
    """

    def __init__(self, trust: Trust, *, seconds: float, silence: float) -> None:
        self._seconds = seconds
        self._tokens: dict[tuple[str, str], str] = {}
        for name in _TALKATIVE:
            logging.getLogger(name).setLevel(logging.WARNING)
        self._client = httpx2.AsyncClient(
            verify=context(trust),
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

    async def ask(self, question: Question) -> Answer:
        try:
            async with asyncio.timeout(self._seconds):
                return await self._admitted(question)
        except TimeoutError:
            raise unreachable(question, f"no full answer within {self._seconds:g} s") from None

    @asynccontextmanager
    async def stream(self, question: Question) -> AsyncIterator[Stream]:
        reply = await self._opened(question, {})
        try:
            if reply.status_code != HTTPStatus.OK:
                yield Stream(answer=await _whole(question, reply), pieces=_nothing())
            else:
                answer = Answer(status=reply.status_code, headers=_headers(reply))
                yield Stream(answer=answer, pieces=_pieces(question, reply))
        finally:
            await reply.aclose()

    async def _admitted(self, question: Question) -> Answer:
        """The answer, with the token of the registry where it wants one."""
        place = _place(question)
        answer = await self._answer(question, self._authorization(place))
        if answer.status != HTTPStatus.UNAUTHORIZED:
            return answer
        asked = token_question(question, answer)
        given = await self._answer(asked, {})
        if given.status != HTTPStatus.OK:
            raise refusal(asked, given)
        self._tokens[place] = token_in(question, given)
        return await self._answer(question, self._authorization(place))

    def _authorization(self, place: tuple[str, str]) -> dict[str, str]:
        token = self._tokens.get(place)
        return {"Authorization": f"Bearer {token}"} if token else {}

    async def _answer(self, question: Question, extra: dict[str, str]) -> Answer:
        reply = await self._opened(question, extra)
        try:
            return await _whole(question, reply)
        finally:
            await reply.aclose()

    async def _opened(self, question: Question, extra: dict[str, str]) -> httpx2.Response:
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
            at = Question(url=_safe(question, following), method=question.method)
        raise odd_answer(question, "it redirects again and again")

    async def _sent(self, question: Question, headers: dict[str, str]) -> httpx2.Response:
        try:
            try:
                return await self._once(question, headers)
            except _DEAD_CONNECTION:
                return await self._once(question, headers)
        except httpx2.TransportError as error:
            raise _no_answer(question, error) from error
        except httpx2.InvalidURL:
            raise odd_answer(question, "it redirects to what cannot be read") from None

    async def _once(self, question: Question, headers: dict[str, str]) -> httpx2.Response:
        request = self._client.build_request(
            question.method, question.url, headers=headers, content=question.body or None
        )
        return await self._client.send(request, stream=True)


async def _whole(question: Question, reply: httpx2.Response) -> Answer:
    body = bytearray()
    async for piece in _pieces(question, reply):
        body += piece
        if len(body) > _MOST_BYTES:
            raise odd_answer(question, f"its answer is over {_MOST_BYTES >> 20} MiB")
    return Answer(status=reply.status_code, headers=_headers(reply), body=bytes(body))


async def _pieces(question: Question, reply: httpx2.Response) -> AsyncIterator[bytes]:
    try:
        async for piece in reply.aiter_bytes():
            yield piece
    except httpx2.TransportError as error:
        raise _no_answer(question, error) from error
    except httpx2.DecodingError as error:
        raise odd_answer(question, "its answer cannot be unpacked") from error


async def _nothing() -> AsyncIterator[bytes]:
    for piece in tuple[bytes, ...]():
        yield piece


def _no_answer(question: Question, error: httpx2.TransportError) -> StockmanError:
    flaw = certificate_flaw(error)
    if flaw is not None:
        return unreachable(question, f"its certificate is not trusted: {flaw.verify_message}")
    if isinstance(error, httpx2.TimeoutException) and not isinstance(error, _NOT_CONNECTED):
        return unreachable(question, "it fell silent in the middle")
    return unreachable(question, reason(error))


def _headers(reply: httpx2.Response) -> dict[str, str]:
    return {name.lower(): value for name, value in reply.headers.items()}


def _safe(question: Question, url: str) -> str:
    try:
        return checked(url)
    except Refused:
        raise odd_answer(question, "it redirects to a place that is not HTTPS") from None


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc


def _place(question: Question) -> tuple[str, str]:
    """What a token is good for: one repository of one registry."""
    parts = urlsplit(question.url)
    return parts.netloc, parts.path.rpartition("/manifests/")[0]
