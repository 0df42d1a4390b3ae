"""Bodies that come piece by piece."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

from stockman_lab.http.go_style import go_rules
from stockman_lab.http.messages import Outcome, Request, Response, Stream
from stockman_lab.http.server import HttpServer

from lab.tests.http.serving import Clockwork

ASKED = b"GET /stream HTTP/1.1\r\nHost: lab\r\n\r\n"
LARGE = b"x" * (1 << 20)


class Tap:
    """A stream that tells how far it came."""

    def __init__(self, piece: bytes, times: int, *, waits: bool = False) -> None:
        self.piece = piece
        self.times = times
        self.waits = waits
        self.given = 0
        self.is_closed = asyncio.Event()

    async def pieces(self) -> AsyncIterator[bytes]:
        try:
            for _ in range(self.times):
                self.given += 1
                yield self.piece
            if self.waits:
                await asyncio.get_running_loop().create_future()
        finally:
            self.is_closed.set()


async def served(tap: Tap, *, is_cut: bool = False) -> tuple[HttpServer, int]:
    def handler(request: Request) -> Outcome:
        if request.target != "/stream":
            return Response(200, body=b"plain")
        return Stream(tap.pieces(), Response(200), is_cut)

    server = HttpServer(handler, lambda: 0.0, go_rules(body_bytes=1 << 20))
    return server, await server.start("127.0.0.1", 0)


def run(work: Callable[[], Awaitable[None]]) -> None:
    async def limited() -> None:
        await asyncio.wait_for(work(), 20)

    asyncio.run(limited())


def test_pieces_are_chunks_and_the_connection_goes_on() -> None:
    async def work() -> None:
        server, port = await served(Tap(b"wool", 2))
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(ASKED)
        head = await reader.readuntil(b"\r\n\r\n")
        assert b"Transfer-Encoding: chunked" in head
        assert b"Content-Length" not in head
        assert await reader.readexactly(23) == b"4\r\nwool\r\n4\r\nwool\r\n0\r\n\r\n"
        writer.write(b"GET /plain HTTP/1.1\r\nHost: lab\r\n\r\n")
        await reader.readuntil(b"\r\n\r\n")
        assert await reader.readexactly(5) == b"plain"
        writer.close()
        await server.stop()

    run(work)


def test_a_stream_ends_when_the_client_leaves() -> None:
    async def work() -> None:
        tap = Tap(b"wool", 1, waits=True)
        server, port = await served(tap)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(ASKED)
        await reader.readuntil(b"wool\r\n")
        writer.close()
        await tap.is_closed.wait()
        await server.stop()

    run(work)


def test_a_slow_client_holds_the_stream_back() -> None:
    async def work() -> None:
        tap = Tap(LARGE, 64)
        server, port = await served(tap)
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 16)
        writer.write(ASKED)
        await reader.readuntil(b"\r\n\r\n")
        assert tap.given < tap.times
        received = 0
        while received < tap.times * len(LARGE):
            received += len(await reader.read(1 << 20))
        assert tap.given == tap.times
        writer.close()
        await server.stop()

    run(work)


def test_a_stream_that_is_cut_has_no_end() -> None:
    async def work() -> None:
        server, port = await served(Tap(b"wool", 1), is_cut=True)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(ASKED)
        try:
            content = await reader.read()
        except ConnectionError:
            content = b""
        assert b"0\r\n\r\n" not in content
        writer.close()
        await server.stop()

    run(work)


def test_a_server_that_stops_breaks_streams() -> None:
    async def work() -> None:
        tap = Tap(b"wool", 1, waits=True)
        server, port = await served(tap)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(ASKED)
        await reader.readuntil(b"wool\r\n")
        await server.stop()
        assert tap.is_closed.is_set()
        writer.close()

    run(work)


def test_a_client_that_does_not_read_is_given_up() -> None:
    async def work() -> None:
        tap = Tap(LARGE, 1 << 20)

        def handler(_: Request) -> Outcome:
            return Stream(tap.pieces(), Response(200))

        timers = Clockwork()
        rules = go_rules(body_bytes=1 << 20, patience=5.0)
        server = HttpServer(handler, lambda: 0.0, rules, timers)
        port = await server.start("127.0.0.1", 0)
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 16)
        writer.write(ASKED)
        await reader.readuntil(b"\r\n\r\n")
        while len(timers.alarms) < 2:
            await asyncio.wait([asyncio.ensure_future(asyncio.to_thread(int))])
        timers.advance(5.0)
        await tap.is_closed.wait()
        assert tap.given < tap.times
        assert server.connections == 0
        writer.close()
        await server.stop()

    run(work)
