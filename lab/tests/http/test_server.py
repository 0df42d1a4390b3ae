"""A server as a whole: many clients, an end, a port that is taken."""

import asyncio
from contextlib import suppress

import pytest
from stockman_lab.http.messages import Hang, Outcome, Request
from stockman_lab.http.server import HttpServer

from lab.tests.http.serving import ADDRESS, NOW, answer, one_answer, rest, running

GET = b"GET / HTTP/1.1\r\nHost: pve1\r\n\r\n"


def test_a_client_that_comes_while_the_server_stops_is_sent_away() -> None:
    heard = []
    for _ in range(20):
        with running() as lab, lab.connect() as line:
            asyncio.run_coroutine_threadsafe(lab.server.stop(), lab.loop).result(20)
            with suppress(ConnectionError):
                heard.append(rest(line))

    assert set(heard) <= {b""}


def test_stopping_ends_requests_that_would_never_end() -> None:
    ended: list[str] = []
    begun: list[str] = []

    async def endless(request: Request) -> Outcome:
        begun.append(request.target)
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(request.target)
        return Hang()

    with running(endless) as lab, lab.connect() as line:
        line.sendall(GET)
        lab.wait_until(lambda server: bool(begun))
        asyncio.run_coroutine_threadsafe(lab.server.stop(), lab.loop).result(20)

        assert rest(line) == b""
    assert ended == ["/"]


def test_a_taken_port_is_an_error_of_the_system() -> None:
    with running() as lab:
        second = HttpServer(answer, lambda: NOW)
        start = second.start(ADDRESS, lab.port)

        with pytest.raises(OSError, match="address already in use"):
            asyncio.run_coroutine_threadsafe(start, lab.loop).result(20)


def test_a_stopped_server_frees_its_port() -> None:
    with running() as lab, lab.connect() as line:
        line.sendall(GET)
        one_answer(line)
        asyncio.run_coroutine_threadsafe(lab.server.stop(), lab.loop).result(20)
        start = lab.server.start(ADDRESS, lab.port)

        assert asyncio.run_coroutine_threadsafe(start, lab.loop).result(20) == lab.port
        assert lab.talk(GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
