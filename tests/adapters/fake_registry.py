"""An OCI registry on a loopback address: real sockets, real state, broken only on request."""

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from enum import Enum, auto
from typing import NamedTuple, Self
from urllib.parse import parse_qs, urlsplit


class Asked(NamedTuple):
    """One request as it came over the wire."""

    path: str
    query: dict[str, str]
    token: str
    """Empty: none was sent."""


class Answer(NamedTuple):
    """A reply as it goes over the wire; with a `length`, the connection ends after the body."""

    status: int
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    length: int | None = None


class Trouble(Enum):
    """What can happen instead of an answer."""

    CUT = auto()
    HANG = auto()


class FakeRegistry:
    """Repositories with their tags, given out in pages, to holders of a token if it wants one."""

    def __init__(self, **repositories: list[str]) -> None:
        self.repositories = {name.replace("__", "/"): tags for name, tags in repositories.items()}
        self.page_size = 1000
        self.token = ""
        """Empty: everybody may read."""
        self.token_answer: bytes | None = None
        """What the token service says; None: the token."""
        self.moved_to = ""
        """Empty: repositories are here."""
        self.asked: list[Asked] = []
        self.next: deque[Answer | Trouble] = deque()
        """What the next requests get, whatever they ask for."""
        self.port = 0

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def address(self, repository: str) -> str:
        return f"oci://{self.host}/{repository}"

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[Self]:
        self._over = asyncio.Event()
        self._open: dict[asyncio.StreamWriter, asyncio.Task[None] | None] = {}
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()
            self._over.set()
            for writer in self._open:
                writer.transport.abort()
            await asyncio.gather(*filter(None, self._open.values()))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open[writer] = asyncio.current_task()
        try:
            while await self._answered(await reader.readuntil(b"\r\n\r\n"), writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            del self._open[writer]
            writer.close()

    async def _answered(self, head: bytes, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; whether the connection goes on."""
        answer = self._answer(_parsed(head))
        if isinstance(answer, Trouble):
            if answer is Trouble.HANG:
                await self._over.wait()
            writer.transport.abort()
            return False
        writer.write(_wire(answer))
        await writer.drain()
        return answer.length is None

    def _answer(self, request: Asked) -> Answer | Trouble:
        self.asked.append(request)
        if self.next:
            return self.next.popleft()
        if request.path == "/token":
            return Answer(200, self.token_answer or _json({"token": self.token}))
        if request.token != self.token:
            return Answer(401, b"{}", (("WWW-Authenticate", self._challenge()),))
        if self.moved_to:
            return Answer(307, b"", (("Location", self.moved_to),))
        return self._page(request)

    def _challenge(self) -> str:
        return f'Bearer realm="http://{self.host}/token",service="fake",scope="repository:x:pull"'

    def _page(self, request: Asked) -> Answer:
        name = request.path.removeprefix("/v2/").removesuffix("/tags/list")
        tags = self.repositories.get(name)
        if tags is None:
            return Answer(404, b"{}")
        start = tags.index(request.query["last"]) + 1 if "last" in request.query else 0
        end = start + min(self.page_size, int(request.query["n"]))
        link = f'<{request.path}?n={end - start}&last={tags[min(end, len(tags)) - 1]}>; rel="next"'
        return Answer(
            200,
            _json({"name": name, "tags": tags[start:end]}),
            (("Link", link),) if end < len(tags) else (),
        )


def _json(value: object) -> bytes:
    return json.dumps(value).encode()


def _parsed(head: bytes) -> Asked:
    first, *lines = head.decode().split("\r\n")
    target = urlsplit(first.split(" ")[1])
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    query = {name: values[0] for name, values in parse_qs(target.query).items()}
    return Asked(target.path, query, headers.get("authorization", "").removeprefix("Bearer "))


def _wire(answer: Answer) -> bytes:
    length = len(answer.body) if answer.length is None else answer.length
    headers = (*answer.headers, ("Content-Length", str(length)))
    lines = [f"HTTP/1.1 {answer.status} Whatever", *(f"{name}: {value}" for name, value in headers)]
    return "\r\n".join([*lines, "", ""]).encode() + answer.body
