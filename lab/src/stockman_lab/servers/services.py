"""The doors of what machines need from outside: images, object storage, git repositories."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from stockman_lab.http.faulty import DelayedOutcome
from stockman_lab.http.go_style import go_rules
from stockman_lab.http.messages import Outcome, Request
from stockman_lab.http.server import HttpServer
from stockman_lab.servers.context import ServingContext
from stockman_lab.servers.listener import opened
from stockman_lab.servers.pace import Pace
from stockman_lab.world.world import World

if TYPE_CHECKING:
    from stockman_lab.http.messages import Outcome, Request
    from stockman_lab.objects.state import AccessKey
    from stockman_lab.servers.pace import Pace
    from stockman_lab.world.world import World

OBJECTS_PORT = 9000


class ObjectsServer:
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
        self._server = HttpServer(self._first, lambda: world.now, go_rules(body_bytes=_BODY_BYTES))

    async def start(self, address: str, port: int = OBJECTS_PORT) -> int:
        """Listen, on any free port for 0; returns the port. `OSError` if it is taken."""
        return await self._server.start(address, port)

    async def stop(self) -> None:
        await self._server.stop()

    def _first(self, request: Request) -> Outcome | Awaitable[Outcome]:
        # What answers is imported for the first request: the door opens without it.
        from stockman_lab.servers.objects_port import world_objects

        api = world_objects(self._world, self._clock)

        def handle(request: Request) -> Outcome | Awaitable[Outcome]:
            self._pace.catch_up()
            if self._seen is not None:
                self._seen(f"objects {request.method} {urlsplit(request.target).path}")
            answer = api.answer(request)
            return self._later(answer) if answer.seconds else answer.outcome

        self._server.handler = handle
        return handle(request)

    def _later(self, answer: DelayedOutcome) -> asyncio.Future[Outcome]:
        async def waited() -> Outcome:
            await self._pace.wait(answer.seconds)
            return answer.outcome

        return asyncio.ensure_future(waited())


IMAGES_PORT = 8080
_BODY_BYTES_IMAGES_DOOR = 512 << 20
"""Of one request: charts and images that somebody pushes."""


class ImagesServer:
    """Serves images of a world while it is open."""

    def __init__(self, world: World, pace: Pace, seen: Callable[[str], None] | None = None) -> None:
        self._world = world
        self._pace = pace
        self._seen = seen
        rules = go_rules(body_bytes=_BODY_BYTES_IMAGES_DOOR)
        self._server = HttpServer(self._first, lambda: world.now, rules)

    async def start(self, address: str, port: int = IMAGES_PORT) -> int:
        """Listen, on any free port for 0; returns the port. `OSError` if it is taken."""
        return await self._server.start(address, port)

    async def stop(self) -> None:
        await self._server.stop()

    def _first(self, request: Request) -> Outcome | Awaitable[Outcome]:
        # What answers is imported for the first request: the door opens without it.
        from stockman_lab.servers.images_handler import ImagesHandler, WorldImages

        self._server.handler = ImagesHandler(WorldImages(self._world), self._pace, self._seen)
        return self._server.handler(request)


GIT_PORT = 3000
_BODY_BYTES = 1 << 30


class GitServer:
    """Serves repositories while it is open, by the URLs that files name."""

    def __init__(
        self,
        repositories: Mapping[str, str],
        now: Callable[[], float],
        seen: Callable[[str], None] | None = None,
    ) -> None:
        self._repositories = repositories
        self._seen = seen
        self._server = HttpServer(self._first, now, go_rules(body_bytes=_BODY_BYTES))

    async def start(self, address: str, port: int = GIT_PORT) -> int:
        """Listen, on any free port for 0; returns the port. `OSError` if it is taken."""
        from pathlib import Path

        from stockman_lab.git.backend import prepare

        for directory in self._repositories.values():
            await prepare(Path(directory))
        return await self._server.start(address, port)

    async def stop(self) -> None:
        await self._server.stop()

    def _first(self, request: Request) -> Outcome | Awaitable[Outcome]:
        from stockman_lab.git.backend import GitBackend

        backend = GitBackend(self._repositories)

        def handle(request: Request) -> Outcome | Awaitable[Outcome]:
            if self._seen is not None:
                self._seen(f"git {request.method} {request.target.partition('?')[0]}")
            return backend(request)

        self._server.handler = handle
        return handle(request)


class ServiceServers:
    """Each answers where the world has an address for it."""

    def __init__(self, premises: ServingContext) -> None:
        self._premises = premises
        self._began = 0.0
        self._images: ImagesServer | None = None
        self.images_place: tuple[str, int] | None = None
        """Where Image Factory and registry answer. None: nowhere."""
        self._objects: ObjectsServer | None = None
        self.objects_place: tuple[str, int] | None = None
        """Where object storage answers. None: nowhere."""
        self._git: GitServer | None = None
        self.git_place: tuple[str, int] | None = None
        """Where git repositories are served. None: nowhere, or there is none."""

    async def open(self) -> None:
        """Open those that are asked for; raises `PortTaken`."""
        self._began = asyncio.get_running_loop().time()
        await self._open_images()
        await self._open_objects()
        await self._open_git()

    async def stop(self) -> None:
        for door in (self._images, self._objects, self._git):
            if door is not None:
                await door.stop()
        self._images = self._objects = self._git = None

    async def _open_images(self) -> None:
        premises = self._premises
        address, port = premises.world.state.images_address, premises.manner.images_port
        if port is None or not address:
            return
        images_door = self._images = ImagesServer(premises.world, premises.pace, premises.note)
        self.images_place = await opened(images_door.start, address, port)

    async def _open_objects(self) -> None:
        premises = self._premises
        address, port = premises.world.state.objects_address, premises.manner.objects_port
        if port is None or not address:
            return
        objects_door = self._objects = ObjectsServer(
            premises.world, premises.pace, self._real_now, premises.note
        )
        self.objects_place = await opened(objects_door.start, address, port)

    async def _open_git(self) -> None:
        premises = self._premises
        state, port = premises.world.state, premises.manner.git_port
        if port is None or not state.objects_address or not state.repositories:
            return
        git_door = self._git = GitServer(
            state.repositories, lambda: premises.world.now, premises.note
        )
        self.git_place = await opened(git_door.start, state.objects_address, port)

    def _real_now(self) -> datetime:
        """What clients take for the time, at whatever pace the world goes."""
        passed = asyncio.get_running_loop().time() - self._began
        return self._premises.now + timedelta(seconds=passed)

    def objects_key(self) -> AccessKey:
        """What opens object storage; made when first asked for."""
        from stockman_lab.objects.state import first_key

        return first_key(self._premises.world.state.objects, self._premises.world.state.dice.seed)
