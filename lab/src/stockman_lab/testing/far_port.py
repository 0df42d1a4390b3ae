"""`ports.Kubernetes` of a lab that another thread serves: every call is carried over to it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from typing import TypeVar

from stockman.kubernetes.client import KubernetesClient
from stockman.kubernetes.transport import Reply, Request
from stockman_lab.doors.kube_port import ApiClock, ApiWire
from stockman_lab.kube.api.server import Api

T = TypeVar("T")


class FarWire:
    """Carries calls to the thread of a lab, where nothing else happens meanwhile."""

    def __init__(
        self, api: Api, loop: asyncio.AbstractEventLoop, after: Callable[[], None]
    ) -> None:
        self._wire = ApiWire(api)
        self._loop = loop
        self._after = after

    async def call(self, request: Request) -> Reply:
        return await self._there(self._wire.call(request))

    async def stream(self, request: Request) -> AsyncGenerator[bytes, None]:
        pieces = self._wire.stream(request)

        async def following() -> bytes | None:
            return await anext(pieces, None)

        try:
            while (piece := await self._there(following())) is not None:
                yield piece
        finally:
            await self._there(pieces.aclose())

    async def _there(self, work: Coroutine[object, object, T]) -> T:
        async def done() -> T:
            done = await work
            self._after()
            return done

        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(done(), self._loop))


def far_kubernetes(
    api: Api, loop: asyncio.AbstractEventLoop, after: Callable[[], None]
) -> KubernetesClient:
    """The port of an administrator."""
    return KubernetesClient(FarWire(api, loop, after), ApiClock(api))
