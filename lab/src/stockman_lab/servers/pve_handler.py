"""The API over HTTP, as one host serves it on its port 8006."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from http import HTTPStatus
from typing import TYPE_CHECKING

from stockman_lab.http.messages import JSON, Cut, Hang, Outcome, Request, Response
from stockman_lab.http.parsing import BadBody, parameters
from stockman_lab.pve.api.call import ApiReply, ApiRequest, Later, Outgoing, Upload
from stockman_lab.pve.api.call import Outcome as Fate
from stockman_lab.pve.host import Host
from stockman_lab.servers.pace import Pace

if TYPE_CHECKING:
    from stockman_lab.pve.api.api import Api

_PREFIX = "/api2/"
_FORMATS = frozenset({"json", "extjs"})
_ENCODE = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode


class PveHandler:
    """Answers HTTP requests of one host out of the world."""

    def __init__(
        self,
        api: Callable[[], Api],
        host: Host,
        pace: Pace,
        *,
        slow_refusals: bool = False,
        seen: Callable[[str], None] | None = None,
    ) -> None:
        self._api = api
        self._host = host
        self._pace = pace
        self._slow = slow_refusals
        self._seen = seen

    def __call__(self, request: Request) -> Outcome | asyncio.Future[Outcome]:
        """Answer at once where that can be, later otherwise."""
        if not self._host.has_power:
            return Cut()
        self._pace.catch_up()
        # Still encoded: the schema decodes it, once. Clients like to begin with two slashes.
        path = "/" + request.target.partition("?")[0].lstrip("/")
        style, _, rest = path.removeprefix(_PREFIX).partition("/")
        if not path.startswith(_PREFIX) or style not in _FORMATS:
            return _no_uri(request)
        try:
            outgoing = self._api().perform(self._host, self._api_request(request, f"/{rest}"))
        except BadBody as bad:
            return Response(400, str(bad))
        self._pace.go_on()
        if self._seen is not None:
            self._seen(f"{self._host.name} {request.method} {path}")
        if isinstance(outgoing, ApiReply) and not self._waits(outgoing):
            return _response(outgoing, style)
        return asyncio.ensure_future(self._later(outgoing, style))

    def _api_request(self, request: Request, path: str) -> ApiRequest:
        upload = None
        if request.upload is not None:
            upload = Upload(request.upload.filename, request.upload.path.read_bytes())
        return ApiRequest(
            method=request.method,
            path=path,
            params=dict(parameters(request)),
            headers=request.headers,
            upload=upload,
        )

    def _waits(self, reply: ApiReply) -> bool:
        if reply.status == HTTPStatus.UNAUTHORIZED and not self._slow:
            return False
        return reply.wait > 0

    async def _later(self, outgoing: Outgoing, style: str) -> Outcome:
        if isinstance(outgoing, Later):
            outgoing = await self._known(outgoing)
        if self._waits(outgoing):
            await self._pace.wait(outgoing.wait)
        self._pace.go_on()
        return _response(outgoing, style)

    async def _known(self, later: Later) -> ApiReply:
        if later.seconds is not None:
            await self._pace.wait(later.seconds)
            return later.conclude(None)
        arrived: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        if later.begin is not None:
            later.begin(arrived.set_result)
        return later.conclude(await arrived)


def _response(reply: ApiReply, style: str) -> Outcome:
    if reply.outcome is Fate.HANG:
        return Hang()
    if reply.outcome is Fate.CUT:
        return Cut()
    if reply.body is None:
        return Response(reply.status, reply.reason)
    status, body = reply.status, reply.body
    if style == "extjs":
        body = _extjs(reply)
        status = 200
    text = _ENCODE(body).encode("utf-8", "replace")
    if reply.outcome is Fate.CORRUPT:
        text = text[: len(text) // 2]
    reason = reply.reason if style == "json" else "OK"
    return Response(status, reason, JSON, text)


def _extjs(reply: ApiReply) -> dict[str, object]:
    body = dict(reply.body or {})
    body["success"] = 1 if reply.status < HTTPStatus.BAD_REQUEST else 0
    if reply.status >= HTTPStatus.BAD_REQUEST:
        body["status"] = reply.status
    return body


def _no_uri(request: Request) -> Response:
    del request
    return Response(501, "no such uri")
