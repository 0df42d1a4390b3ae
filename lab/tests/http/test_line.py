"""The wire under a connection: silence, stalled clients, lines that end while somebody talks."""

import asyncio
import socket

from stockman_lab.http.messages import Outcome, Request, Response

from lab.tests.http.serving import answer, one_answer, rest, running

GET = b"GET / HTTP/1.1\r\nHost: pve1\r\n\r\n"


def test_a_connection_without_a_request_ends_after_five_seconds() -> None:
    with running() as lab, lab.connect() as line:
        lab.wait_until(lambda server: server.connections == 1)
        lab.pass_time(4.9)
        assert lab.call(lambda: lab.server.connections) == 1

        lab.pass_time(0.2)

        assert rest(line) == b""
        lab.wait_until(lambda server: server.connections == 0)


def test_an_answered_request_starts_the_five_seconds_anew() -> None:
    with running() as lab, lab.connect() as line:
        for _ in range(3):
            line.sendall(GET)
            assert one_answer(line).startswith(b"HTTP/1.1 200 OK")
            lab.pass_time(4.9)
        lab.pass_time(0.2)

        assert rest(line) == b""


def test_half_a_request_does_not_wait_for_ever_for_the_other_half() -> None:
    with running() as lab, lab.connect() as line:
        line.sendall(b"POST / HTTP/1.1\r\nHost: pve1\r\nContent-Length: 10\r\n\r\n12345")
        lab.wait_until(lambda server: server.connections == 1)
        lab.pass_time(5)

        assert rest(line) == b""


def test_a_client_that_waits_for_a_slow_answer_is_not_silent() -> None:
    gate = asyncio.Event()
    begun: list[Request] = []

    async def slow(request: Request) -> Outcome:
        begun.append(request)
        await gate.wait()
        return answer(request)

    with running(slow) as lab, lab.connect() as line:
        line.sendall(GET)
        lab.wait_until(lambda server: bool(begun))
        lab.pass_time(60)
        lab.call(gate.set)

        heard = one_answer(line)

        assert heard.startswith(b"HTTP/1.1 200 OK")


def test_a_client_that_does_not_fetch_its_answer_is_given_up() -> None:
    def huge(request: Request) -> Response:
        return Response(body=b"x" * 50_000_000)

    with running(huge) as lab, lab.connect() as line:
        line.sendall(GET)
        line.recv(1, socket.MSG_PEEK)
        for _ in range(4):
            lab.pass_time(5)

        lab.wait_until(lambda server: server.connections == 0)


def test_a_refused_client_that_goes_on_talking_still_hears_the_answer() -> None:
    size = 4_000_000
    head = f"POST / HTTP/1.1\r\nHost: pve1\r\nContent-Length: {size}\r\n\r\n"

    with running() as lab, lab.connect() as line:
        line.sendall(head.encode() + b"x" * size)

        heard = rest(line)

    assert heard.startswith(b"HTTP/1.1 501 for data too large\r\n")


def test_a_refused_client_that_never_stops_talking_is_cut_off() -> None:
    head = b"POST / HTTP/1.1\r\nHost: pve1\r\nContent-Length: 999999999\r\n\r\n"

    with running() as lab, lab.connect() as line:
        line.sendall(head)
        sent = _sent_until_cut(line)

        lab.wait_until(lambda server: server.connections == 0)

    assert sent < 900_000_000


def _sent_until_cut(line: socket.socket) -> int:
    sent = 0
    try:
        while sent < 900_000_000:
            sent += line.send(b"x" * 1_000_000)
    except ConnectionError:
        pass
    return sent
