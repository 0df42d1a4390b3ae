"""Real connections to this machine."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import pytest
from stockman_lab.images.loopback import target
from stockman_lab.images.opening import Question, Trouble, Untrusted, open_loopback

from tests.adapters.loopback import ADDRESS, Serve, authority, closed_port, issued, listening


def saying(answer: bytes, heard: list[bytes] | None = None) -> Serve:
    def serve(connection: socket.socket) -> None:
        request = connection.recv(4096)
        if heard is not None:
            heard.append(request)
        connection.sendall(answer)

    return serve


async def _fetched(question: Question) -> tuple[int, str, dict[str, str], bytes]:
    async with open_loopback(question) as reply:
        body = b"".join([piece async for piece in reply.body])
        return reply.status, reply.reason, reply.headers, body


def fetched(url: str, *, verify: bool = True, method: str = "GET") -> tuple[object, ...]:
    return asyncio.run(_fetched(Question(target=target(url), verify=verify, method=method)))


def test_a_page_is_fetched() -> None:
    heard: list[bytes] = []
    answer = b"HTTP/1.1 200 Fine\r\nContent-Length: 5\r\nContent-Type: text/x\r\n\r\nhello"

    with listening(saying(answer, heard)) as port:
        status, reason, headers, body = fetched(f"http://{ADDRESS}:{port}/a?b=c")

    assert (status, reason, body) == (200, "Fine", b"hello")
    assert headers == {"content-length": "5", "content-type": "text/x"}
    assert heard[0].startswith(b"GET /a?b=c HTTP/1.1\r\nHost: %s:%d" % (ADDRESS.encode(), port))


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n",
        b"HTTP/1.0 200 OK\r\n\r\nhello",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
    ],
)
def test_bodies_come_in_every_way_that_there_is(answer: bytes) -> None:
    with listening(saying(answer)) as port:
        assert fetched(f"http://{ADDRESS}:{port}/")[3] == b"hello"


def test_the_answer_to_a_look_has_no_body() -> None:
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"

    with listening(saying(answer)) as port:
        assert fetched(f"http://{ADDRESS}:{port}/", method="HEAD")[3] == b""


@pytest.mark.parametrize(
    "answer",
    [b"", b"nonsense\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello"],
)
def test_broken_answers_are_trouble(answer: bytes) -> None:
    with listening(saying(answer)) as port, pytest.raises(Trouble):
        fetched(f"http://{ADDRESS}:{port}/")


def test_a_closed_port_refuses() -> None:
    with pytest.raises(Trouble, match="Connection refused"):
        fetched(f"http://{ADDRESS}:{closed_port()}/")


def test_other_machines_are_never_dialled() -> None:
    with pytest.raises(Trouble, match="No route to host"):
        fetched("http://203.0.113.1/")


def secure(directory: Path) -> Serve:
    context = issued(authority()).context(directory)

    def serve(connection: socket.socket) -> None:
        with context.wrap_socket(connection, server_side=True) as talk:
            talk.recv(4096)
            talk.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")

    return serve


def test_a_certificate_is_verified_unless_it_is_not_to_be(tmp_path: Path) -> None:
    with listening(secure(tmp_path)) as port:
        url = f"https://{ADDRESS}:{port}/"
        with pytest.raises(Untrusted):
            fetched(url)
        assert fetched(url, verify=False)[3] == b"hi"
