"""An HTTPS server on a loopback address that passes everything on to an API server of the lab."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from urllib.parse import parse_qs, urlsplit

from stockman_lab.kube.api.messages import Request, Response
from stockman_lab.kube.api.server import Api
from stockman_lab.servers.kube_port import ADMIN

from tests.adapters.http_proxmox.scripted import Asked, ScriptedServer


class SmallFace(ScriptedServer):
    """Answers in the name of an API server; whoever asks is an administrator."""

    def __init__(self, api: Api) -> None:
        super().__init__()
        self._api = api

    async def _answered(self, received: Asked, writer: asyncio.StreamWriter) -> bool:
        self.asked.append(received)
        query = parse_qs(urlsplit(received.target).query, keep_blank_values=True)
        request = Request(
            received.method, received.path, query, received.headers, received.body, ADMIN
        )
        handle = self._api.handle(request)
        writer.write(_head(handle))
        if handle.stream is None:
            writer.write(handle.body)
            await writer.drain()
            return True
        return await self._poured(handle.stream, writer)

    async def _poured(self, pieces: AsyncIterator[bytes], writer: asyncio.StreamWriter) -> bool:
        """Whether a stream came to its end before the server did."""
        over = asyncio.ensure_future(self._over.wait())
        while True:
            following = asyncio.ensure_future(anext(pieces, None))
            await asyncio.wait({following, over}, return_when=asyncio.FIRST_COMPLETED)
            if not following.done():
                following.cancel()
                await asyncio.wait({following})
                return False
            piece = following.result()
            writer.write(b"%x\r\n%s\r\n" % (len(piece or b""), piece or b""))
            await writer.drain()
            if piece is None:
                over.cancel()
                return True


def _head(result: Response) -> bytes:
    headers = dict(result.headers)
    if result.stream is None:
        headers["Content-Length"] = str(len(result.body))
    else:
        headers["Transfer-Encoding"] = "chunked"
    lines = [f"HTTP/1.1 {result.status} Answered"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")
