"""The door to Image Factory and registry: plain HTTP on an address of this machine."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from stockman_lab.http.go_style import go_house
from stockman_lab.http.server import HttpServer

if TYPE_CHECKING:
    from stockman_lab.doors.pace import Pace
    from stockman_lab.http.messages import Outcome, Request
    from stockman_lab.world.world import World

PORT = 8080
_BODY_BYTES = 512 << 20
"""Of one request: charts and images that somebody pushes."""


class ImagesDoor:
    """Serves images of a world while it is open."""

    def __init__(self, world: World, pace: Pace, seen: Callable[[str], None] | None = None) -> None:
        self._world = world
        self._pace = pace
        self._seen = seen
        house = go_house(body_bytes=_BODY_BYTES)
        self._server = HttpServer(self._first, lambda: world.now, house)

    async def start(self, address: str, port: int = PORT) -> int:
        """Listen, on any free port for 0; returns the port. `OSError` if it is taken."""
        return await self._server.start(address, port)

    async def stop(self) -> None:
        await self._server.stop()

    def _first(self, request: Request) -> Outcome | Awaitable[Outcome]:
        # What answers is imported for the first request: the door opens without it.
        from stockman_lab.doors.images_face import ImagesFace, WorldImages

        self._server.handler = ImagesFace(WorldImages(self._world), self._pace, self._seen)
        return self._server.handler(request)
