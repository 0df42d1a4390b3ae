"""`ports.Kubernetes` in memory: the calls of the product, carried straight to an API server."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from datetime import UTC, datetime
from urllib.parse import unquote, urlsplit

from stockman.kubernetes.client import KubernetesClient
from stockman.kubernetes.errors import reply_error
from stockman.kubernetes.transport import Reply, Request
from stockman_lab.kube.api.messages import Request as LabRequest
from stockman_lab.kube.api.messages import Response, User, read_query
from stockman_lab.kube.api.server import Api

ADMIN = User("admin", ("system:masters", "system:authenticated"))
_AGENT = "stockman"


class ApiWire:
    """Carries calls to an API server in the name of somebody."""

    def __init__(self, api: Api, user: User = ADMIN) -> None:
        self._api = api
        self._user = user

    async def call(self, request: Request) -> Reply:
        answer = self._answer(request)
        return _reply(answer, answer.body + b"".join([one async for one in _stream_body(answer)]))

    async def stream(self, request: Request) -> AsyncGenerator[bytes, None]:
        answer = self._answer(request)
        reply = _reply(answer, answer.body)
        if not reply.is_good:
            raise reply_error(request, reply)
        if answer.body:
            yield answer.body
        async for piece in _stream_body(answer):
            yield piece

    def _answer(self, request: Request) -> Response:
        parts = urlsplit(request.target)
        headers = {"user-agent": _AGENT, "accept": request.accepts}
        if request.body:
            headers["content-type"] = request.content_type
        lab_request = LabRequest(
            method=request.method,
            path=unquote(parts.path),
            query=read_query(parts.query),
            headers=headers,
            body=request.body,
            user=self._user,
        )
        return self._api.handle(lab_request)


class ApiClock:
    """The clock of an API server."""

    def __init__(self, api: Api) -> None:
        self._api = api

    def now(self) -> datetime:
        return datetime.fromtimestamp(self._api.store.now, UTC)


def memory_kubernetes(api: Api, user: User = ADMIN) -> KubernetesClient:
    """The port, with an API server behind it; an administrator asks unless others are named."""
    return KubernetesClient(ApiWire(api, user), ApiClock(api))


def _reply(response: Response, body: bytes) -> Reply:
    headers = {name.lower(): value for name, value in response.headers.items()}
    return Reply(status=response.status, body=body, headers=headers)


async def _stream_body(response: Response) -> AsyncIterator[bytes]:
    if response.stream is not None:
        async for piece in response.stream:
            yield piece
