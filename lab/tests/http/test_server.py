"""A server as a whole: many clients, an end, a port that is taken."""

import asyncio
from contextlib import ExitStack, suppress

import pytest
from stockman_lab.http.house import House
from stockman_lab.http.messages import Hang, Outcome, Request
from stockman_lab.http.server import HttpServer

from lab.tests.http.serving import ADDRESS, NOW, answer, one_answer, rest, running

GET = b"GET / HTTP/1.1\r\nHost: pve1\r\n\r\n"


def test_five_hundred_connections_are_answered_while_all_are_open() -> None:
    with running() as lab, ExitStack() as open_lines:
        lines = [open_lines.enter_context(lab.connect()) for _ in range(500)]
        lab.wait_until(lambda server: server.connections == 500)
        for line in lines:
            line.sendall(GET)

        heard = [one_answer(line) for line in lines]

    assert all(said.startswith(b"HTTP/1.1 200 OK") for said in heard)


def test_in_a_crowd_connections_are_not_kept_alive() -> None:
    with running() as lab, ExitStack() as open_lines:
        lines = [open_lines.enter_context(lab.connect()) for _ in range(480)]
        lab.wait_until(lambda server: server.connections == 480)
        lines[0].sendall(GET)
        lines[-1].sendall(GET)

        first, last = one_answer(lines[0]), one_answer(lines[-1])

    assert b"Connection: Keep-Alive" in first
    assert b"Connection: close" in last


def test_one_client_too_many_waits_until_another_leaves() -> None:
    with running(house=House(connections=2)) as lab, lab.connect() as first, lab.connect():
        lab.wait_until(lambda server: server.connections == 2)
        with lab.connect() as third:
            third.sendall(GET)
            lab.wait_until(lambda server: server.waiting == 1)
            assert lab.server.connections == 2

            first.close()

            assert one_answer(third).startswith(b"HTTP/1.1 200 OK")


def test_a_client_that_waits_is_sent_away_when_the_server_stops() -> None:
    with running(house=House(connections=1)) as lab, lab.connect() as first:
        lab.wait_until(lambda server: server.connections == 1)
        with lab.connect() as second:
            lab.wait_until(lambda server: server.waiting == 1)
            asyncio.run_coroutine_threadsafe(lab.server.stop(), lab.loop).result(20)

            assert rest(first) == b""
            assert rest(second) == b""


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
