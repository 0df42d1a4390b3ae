"""`HttpImages` that talks to a server which answers as a test says."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from stockman_lab.http.go_style import go_rules
from stockman_lab.http.messages import Outcome, Request
from stockman_lab.http.server import HttpServer

from stockman.adapters.images import HttpImages
from stockman.ports.images import ImageSource

T = TypeVar("T")
ADDRESS = "127.0.0.1"
NOW = 1_767_225_600.0


class Server:
    """Keeps what it was asked, and answers with a function."""

    def __init__(self, answer: Callable[[Request], Outcome]) -> None:
        self._answer = answer
        self.asked: list[Request] = []
        self.host = ""

    def __call__(self, request: Request) -> Outcome:
        self.asked.append(request)
        return self._answer(request)

    @property
    def url(self) -> str:
        return f"http://{self.host}"


def talk(
    server: Server,
    story: Callable[[ImageSource], Awaitable[T]],
    *more: Server,
    seconds: float = 20.0,
    silence: float = 20.0,
) -> T:
    """What a story comes to; the servers are up while it lasts."""

    async def told() -> T:
        house = go_rules(body_bytes=1 << 20)
        rows = [(one, HttpServer(one, lambda: NOW, house)) for one in (server, *more)]
        for one, door in rows:
            one.host = f"{ADDRESS}:{await door.start(ADDRESS, 0)}"
        try:
            async with HttpImages(server.url, seconds=seconds, silence=silence) as images:
                return await story(images)
        finally:
            for _, door in rows:
                await door.stop()

    return asyncio.run(told())
