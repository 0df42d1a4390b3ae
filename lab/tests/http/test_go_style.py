"""Servers that speak HTTP as programs in Go do."""

import httpx2
import pytest
from stockman_lab.http.go_style import go_rules, text_error
from stockman_lab.http.messages import Request, Response

from lab.tests.http.serving import ADDRESS, DATE, Running, one_answer, running

HOUSE = go_rules(body_bytes=1000)


def answer(request: Request) -> Response:
    if request.target == "/missing":
        return text_error(404, "not here")
    content = f"{request.method} {request.headers.get('content-type', '')} ".encode()
    return Response(headers={"Content-Type": "text/plain"}, body=content + request.body)


def url(server: Running, path: str = "/") -> str:
    return f"http://{ADDRESS}:{server.port}{path}"


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
def test_any_type_of_body_is_taken(method: str) -> None:
    with running(answer, HOUSE) as server:
        reply = httpx2.request(
            method, url(server), content=b"abc", headers={"Content-Type": "application/x-odd"}
        )

    assert reply.text == f"{method} application/x-odd abc"


def test_a_body_may_come_in_chunks() -> None:
    with running(answer, HOUSE) as server, server.connect() as line:
        line.sendall(
            b"PATCH / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"
        )
        line.sendall(b"2\r\nde\r\n0\r\n\r\n")
        first = one_answer(line)
        line.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        second = one_answer(line)

    assert first.endswith(b"PATCH  abcde")
    assert second.endswith(b"GET  ")


@pytest.mark.parametrize("is_chunked", [True, False])
def test_a_body_that_is_too_large_is_not_taken(is_chunked: bool) -> None:
    def pieces() -> object:
        yield b"a" * 600
        yield b"a" * 600

    with running(answer, HOUSE) as server:
        content = pieces() if is_chunked else b"a" * 1001
        reply = httpx2.post(url(server), content=content)  # type: ignore[arg-type]
        fits = httpx2.post(url(server), content=b"a" * 1000)

    assert reply.status_code in (413, 501)
    assert fits.status_code == 200


def test_a_head_tells_the_length_and_sends_nothing() -> None:
    with running(answer, HOUSE) as server, server.connect() as line:
        line.sendall(b"HEAD / HTTP/1.1\r\nHost: a\r\n\r\nGET /missing HTTP/1.1\r\nHost: a\r\n\r\n")
        heard = b""
        while b"not here" not in heard:
            heard += line.recv(4096)

    head, _, rest = heard.partition(b"\r\n\r\n")
    assert b"Content-Length: 6" in head
    assert rest.startswith(b"HTTP/1.1 404 Not Found\r\n")


def test_a_connection_stays_after_an_error() -> None:
    with running(answer, HOUSE) as server, server.connect() as line:
        for _ in range(2):
            line.sendall(b"GET /missing HTTP/1.1\r\nHost: a\r\n\r\n")
            content = one_answer(line)

    assert content == (
        b"HTTP/1.1 404 Not Found\r\nContent-Length: 9\r\n"
        b"Content-Type: text/plain; charset=utf-8\r\n"
        + f"Date: {DATE}\r\n".encode()
        + b"X-Content-Type-Options: nosniff\r\n\r\nnot here\n"
    )


def test_a_status_that_nobody_knows_has_words_as_well() -> None:
    with running(lambda _: Response(599), HOUSE) as server:
        talk = server.talk(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")

    assert talk.startswith(b"HTTP/1.1 599 status code 599\r\nConnection: close\r\n")


def test_an_answer_without_a_body_has_no_length() -> None:
    with running(lambda _: Response(204), HOUSE) as server:
        talk = server.talk(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")

    assert b"Content-Length" not in talk


def test_who_asks_whether_a_body_is_welcome_is_told_so() -> None:
    with running(answer, HOUSE) as server, server.connect() as line:
        head = b"PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n"
        line.sendall(head)
        welcome = line.recv(100)
        line.sendall(b"abc")
        content = one_answer(line)

    assert welcome == b"HTTP/1.1 100 Continue\r\n\r\n"
    assert content.endswith(b"PUT  abc")


def test_a_body_that_is_too_large_is_not_welcome() -> None:
    with running(answer, HOUSE) as server, server.connect() as line:
        head = b"PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 3000\r\nExpect: 100-continue\r\n\r\n"
        line.sendall(head)
        assert not one_answer(line).startswith(b"HTTP/1.1 100")
