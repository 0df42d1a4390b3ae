"""What becomes of a request: an answer, silence, a cut, and clients that do not wait for it."""

import asyncio
import socket
from collections.abc import Awaitable

import pytest
from stockman_lab.http.messages import JSON, Cut, Hang, Outcome, Request, Response
from stockman_lab.http.rules import ServerRules

from lab.tests.http.serving import answer, rest, running
from lab.tests.http.test_connection import GET, LAST, request


def test_a_client_that_closes_its_half_gets_its_answer() -> None:
    gate = asyncio.Event()

    async def slow(request: Request) -> Outcome:
        await gate.wait()
        return answer(request)

    with running(slow) as lab, lab.connect() as line:
        line.sendall(GET)
        line.shutdown(socket.SHUT_WR)
        lab.wait_until(lambda server: server.connections == 1)
        lab.call(gate.set)

        heard = rest(line)

    assert heard.endswith(b"GET /api2/json/version 0")


def test_a_client_that_leaves_does_not_stop_what_it_asked_for() -> None:
    gate = asyncio.Event()
    done: list[str] = []

    async def slow(request: Request) -> Outcome:
        await gate.wait()
        done.append(request.target)
        return answer(request)

    with running(slow) as lab:
        with lab.connect() as line:
            line.sendall(GET)
            lab.wait_until(lambda server: server.connections == 1)
        lab.call(gate.set)
        lab.wait_until(lambda server: bool(done))

    assert done == ["/api2/json/version"]


def test_a_request_without_an_answer_hangs_until_the_client_leaves() -> None:
    def silent(request: Request) -> Outcome:
        return Hang()

    with running(silent) as lab:
        with lab.connect() as line:
            line.sendall(GET)
            lab.wait_until(lambda server: server.connections == 1)
            lab.pass_time(3600)
            assert lab.call(lambda: lab.server.connections) == 1
        lab.wait_until(lambda server: server.connections == 0)

        assert lab.troubles == []


@pytest.mark.parametrize("after", [0, 1, 17, 300])
def test_a_connection_can_be_cut_after_any_number_of_bytes(after: int) -> None:
    def cutting(request: Request) -> Outcome:
        return Cut(after, Response(headers=JSON, body=b"x" * 1000))

    with running(cutting) as lab:
        heard = lab.talk(GET)

    assert len(heard) == after
    assert b"HTTP/1.1 200 OK".startswith(heard[:15])


def test_who_may_not_pass_is_told_before_the_body_is_read() -> None:
    async def later() -> Outcome:
        return Response(401, "No ticket")

    def nobody(request: Request) -> Awaitable[Outcome]:
        return later()

    with running(house=ServerRules(admit=nobody)) as lab:
        heard = lab.talk(request("POST /", "Content-Length: 99999999"))

    assert heard.startswith(b"HTTP/1.1 401 No ticket\r\n")
    assert heard.endswith(b"\r\n\r\n")


@pytest.mark.parametrize("is_slow", [False, True])
def test_a_handler_that_breaks_ends_its_connection_and_nothing_else(is_slow: bool) -> None:
    async def later(request: Request) -> Outcome:
        raise LookupError(request.target)

    def breaking(request: Request) -> Outcome | Awaitable[Outcome]:
        if request.target == "/last":
            return answer(request)
        if is_slow:
            return later(request)
        raise LookupError(request.target)

    with running(breaking) as lab:
        broken, fine = lab.talk(GET), lab.talk(LAST)
        troubles = [lab.troubles.pop()]

    assert broken == b""
    assert fine.startswith(b"HTTP/1.1 200 OK")
    assert "LookupError('/api2/json/version')" in troubles[0]


def test_a_handler_that_breaks_after_a_slow_answer_ends_its_connection_too() -> None:
    async def later(request: Request) -> Outcome:
        return answer(request)

    def breaking(request: Request) -> Outcome | Awaitable[Outcome]:
        if request.target == "/last":
            raise LookupError(request.target)
        return later(request)

    with running(breaking) as lab:
        heard = lab.talk(GET + LAST)
        troubles = [lab.troubles.pop()]

    assert heard.endswith(b"GET /api2/json/version 0")
    assert "LookupError('/last')" in troubles[0]
