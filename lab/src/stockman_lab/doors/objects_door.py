"""The door to object storage: S3 over plain HTTP on an address of this machine."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime
from urllib.parse import urlsplit

from stockman_lab.doors.pace import Pace
from stockman_lab.http.faulty import Told
from stockman_lab.http.go_style import go_house
from stockman_lab.http.messages import Outcome, Request
from stockman_lab.http.server import HttpServer
from stockman_lab.world.world import World

PORT = 9000
_BODY_BYTES = 1 << 30


class ObjectsDoor:
    """Serves the object storage of a world while it is open."""

    def __init__(
        self,
        world: World,
        pace: Pace,
        clock: Callable[[], datetime],
        seen: Callable[[str], None] | None = None,
    ) -> None:
        """`clock` is the one outside: callers sign their requests by it."""
        self._world = world
        self._pace = pace
        self._clock = clock
        self._seen = seen
        self._server = HttpServer(self._first, lambda: world.now, go_house(body_bytes=_BODY_BYTES))

    async def start(self, address: str, port: int = PORT) -> int:
        """Listen, on any free port for 0; returns the port. `OSError` if it is taken."""
        return await self._server.start(address, port)

    async def stop(self) -> None:
        await self._server.stop()

    def _first(self, request: Request) -> Outcome | Awaitable[Outcome]:
        # What answers is imported for the first request: the door opens without it.
        from stockman_lab.doors.objects_port import world_objects

        api = world_objects(self._world, self._clock)

        def handle(request: Request) -> Outcome | Awaitable[Outcome]:
            self._pace.catch_up()
            if self._seen is not None:
                self._seen(f"objects {request.method} {urlsplit(request.target).path}")
            answer = api.answer(request)
            return self._later(answer) if answer.seconds else answer.outcome

        self._server.handler = handle
        return handle(request)

    def _later(self, found: Told) -> asyncio.Future[Outcome]:
        async def waited() -> Outcome:
            await self._pace.wait(found.seconds)
            return found.outcome

        return asyncio.ensure_future(waited())
