"""The wire over HTTP, for the few requests that the library for objects has no call for."""

from __future__ import annotations

import asyncio
import logging

import httpx2

from stockman import __version__
from stockman.adapters.http_proxmox.failures import certificate_flaw, reason
from stockman.adapters.http_proxmox.pinning import context
from stockman.ports.probe import Trust
from stockman.s3.wire import Answer, Lost, NotAsked, Question

_TALKATIVE = ("httpx2", "httpcore2")
_MOST_BYTES = 32 << 20
_NOT_CONNECTED = (httpx2.ConnectError, httpx2.ConnectTimeout)


class HttpObjectsWire:
    """Carries signed requests; follows no redirect, since a signature is for one host."""

    def __init__(self, trust: Trust, *, seconds: float) -> None:
        self._seconds = seconds
        for name in _TALKATIVE:
            logging.getLogger(name).setLevel(logging.WARNING)
        self._client = httpx2.AsyncClient(
            verify=context(trust),
            follow_redirects=False,
            timeout=httpx2.Timeout(seconds, connect=min(seconds, 10.0)),
            headers={"User-Agent": f"stockman/{__version__}", "Accept-Encoding": "identity"},
        )

    async def close(self) -> None:
        """Close all connections."""
        await self._client.aclose()

    async def ask(self, question: Question) -> Answer:
        try:
            async with asyncio.timeout(self._seconds):
                return await self._answer(question)
        except TimeoutError:
            raise Lost(f"no full answer within {self._seconds:g} s") from None
        except _NOT_CONNECTED as error:
            flaw = certificate_flaw(error)
            why = f"its certificate is not trusted: {flaw.verify_message}" if flaw else ""
            raise NotAsked(why or reason(error)) from None
        except httpx2.TransportError as error:
            raise Lost(reason(error)) from None

    async def _answer(self, question: Question) -> Answer:
        request = self._client.build_request(
            question.method,
            question.url,
            headers=dict(question.headers),
            content=question.body or None,
        )
        reply = await self._client.send(request, stream=True)
        try:
            body = bytearray()
            async for piece in reply.aiter_bytes():
                body += piece
                if len(body) > _MOST_BYTES:
                    raise Lost(f"its answer is over {_MOST_BYTES >> 20} MiB")
        finally:
            await reply.aclose()
        headers = {name.lower(): value for name, value in reply.headers.items()}
        return Answer(status=reply.status_code, headers=headers, body=bytes(body))
