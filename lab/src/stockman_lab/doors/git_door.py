"""The door to git repositories: smart HTTP on an address of this machine."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from stockman_lab.http.go_style import go_house
from stockman_lab.http.messages import Outcome, Request
from stockman_lab.http.server import HttpServer

PORT = 3000
_BODY_BYTES = 1 << 30


class GitDoor:
    """Serves repositories while it is open, by the URLs that files name."""

    def __init__(
        self,
        repositories: Mapping[str, str],
        now: Callable[[], float],
        seen: Callable[[str], None] | None = None,
    ) -> None:
        self._repositories = repositories
        self._seen = seen
        self._server = HttpServer(self._first, now, go_house(body_bytes=_BODY_BYTES))

    async def start(self, address: str, port: int = PORT) -> int:
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
