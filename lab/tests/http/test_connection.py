"""Requests over a connection: what is taken, what is refused and how, what follows what."""

import asyncio
import socket
import zlib

import pytest
from stockman_lab.http.messages import JSON, Outcome, Request, Response

from lab.tests.http.serving import DATE, answer, encrypted, one_answer, rest, running

GET = b"GET /api2/json/version HTTP/1.1\r\nHost: pve1\r\n\r\n"
LAST = b"GET /last HTTP/1.1\r\nHost: pve1\r\nConnection: close\r\n\r\n"


def request(head: str, *headers: str, body: bytes = b"") -> bytes:
    lines = "\r\n".join([f"{head} HTTP/1.1", "Host: pve1", *headers])
    return f"{lines}\r\n\r\n".encode("latin-1") + body


def test_an_answer_has_the_headers_of_the_real_one_in_its_order() -> None:
    with running() as lab, lab.connect() as line:
        line.sendall(GET)

        heard = one_answer(line)

    assert heard.decode().split("\r\n") == [
        "HTTP/1.1 200 OK",
        "Cache-Control: max-age=0",
        "Connection: Keep-Alive",
        f"Date: {DATE}",
        "Pragma: no-cache",
        "Server: pve-api-daemon/3.0",
        "Content-Length: 24",
        "Content-Type: application/json;charset=UTF-8",
        f"Expires: {DATE}",
        "",
        "GET /api2/json/version 0",
    ]


@pytest.mark.parametrize(
    ("content", "status", "body"),
    [
        (request("HEAD /"), "501 method 'HEAD' not available", b""),
        (request("PATCH /"), "501 method 'PATCH' not available", b""),
        (request("get /"), "501 method 'get' not available", b""),
        (
            request("POST /", "Transfer-Encoding: chunked", body=b"0\r\n\r\n"),
            "501 chunked transfer encoding not supported",
            b"chunked transfer encoding not supported",
        ),
        (
            request("DELETE /", "Content-Length: 1", body=b"x"),
            "501 Unexpected content for method 'DELETE'",
            b"Unexpected content for method 'DELETE'",
        ),
        (
            request("GET /", "Content-Length: 2", body=b"{}"),
            "501 Unexpected content for method 'GET'",
            b"Unexpected content for method 'GET'",
        ),
        (
            request("POST /", f"Content-Length: {512 * 1024 + 1}"),
            "501 for data too large",
            b"for data too large",
        ),
        (
            request("PUT /", "Content-Type: text/plain; a=b", "Content-Length: 1", body=b"x"),
            "506 upload 'Content-Type 'text/plain; a=b' not implemented",
            b"upload 'Content-Type 'text/plain; a=b' not implemented",
        ),
        (b"GET /\r\n\r\n", "400 bad request", b"bad request"),
        (b"\x00\x01\x02\n\n", "400 bad request", b"bad request"),
        (b"GET / HTTP/1.1\r\nno colon here\r\n\r\n", "400 bad request", b"bad request"),
        (request("POST /", "Content-Length: x"), "400 bad request", b"bad request"),
        (
            request("POST /", "Content-Length: 1", "Content-Length: 2"),
            "400 bad request",
            b"bad request",
        ),
    ],
)
def test_what_is_not_taken_is_refused_in_the_words_of_the_real_one(
    content: bytes, status: str, body: bytes | None
) -> None:
    with running() as lab:
        heard = lab.talk(content)

    head, _, text = heard.partition(b"\r\n\r\n")
    first = head.decode("latin-1").split("\r\n")[0]
    assert first.partition(" ")[2] == status
    assert b"\r\nConnection: close\r\n" in head
    assert body is None or text == body


def test_a_body_of_the_largest_size_is_taken() -> None:
    body = b"x" * (512 * 1024)
    said = request("POST /a", f"Content-Length: {len(body)}", "Connection: close", body=body)

    with running() as lab:
        heard = lab.talk(said)

    assert heard.endswith(f"POST /a {len(body)}".encode())


@pytest.mark.parametrize(
    "kind", ["application/json; charset=utf-8", "application/x-www-form-urlencoded"]
)
def test_bodies_of_the_two_types_of_the_api_are_taken(kind: str) -> None:
    said = request(
        "PUT /a", f"Content-Type: {kind}", "Content-Length: 2", "Connection: close", body=b"{}"
    )

    with running() as lab:
        heard = lab.talk(said)

    assert heard.endswith(b"PUT /a 2")


def test_no_body_may_be_of_any_type() -> None:
    with running() as lab:
        heard = lab.talk(request("POST /a", "Content-Type: text/plain", "Connection: close"))

    assert heard.endswith(b"POST /a 0")


def test_a_request_that_comes_byte_by_byte_is_understood() -> None:
    with running() as lab, lab.connect() as line:
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in request("POST /a", "Content-Length: 3", "Connection: close", body=b"a=1"):
            line.sendall(bytes([byte]))

        heard = rest(line)

    assert heard.endswith(b"POST /a 3")


def test_requests_sent_ahead_are_answered_in_their_order() -> None:
    post = request("POST /first", "Content-Length: 3", body=b"a=1")

    with running() as lab:
        heard = lab.talk(post + GET + LAST)

    assert heard.index(b"POST /first 3") < heard.index(b"GET /api2") < heard.index(b"GET /last 0")
    assert heard.count(b"HTTP/1.1 200 OK") == 3


def test_requests_sent_ahead_of_a_slow_answer_wait_for_it() -> None:
    gate = asyncio.Event()

    async def slow(request: Request) -> Outcome:
        await gate.wait()
        return answer(request)

    ahead = request("GET /long", f"X: {'y' * 4000}")
    with running(slow) as lab, lab.connect() as line:
        line.sendall(ahead * 50 + LAST)
        lab.wait_until(lambda server: server.connections == 1)
        lab.call(gate.set)

        heard = rest(line)

    assert heard.count(b"GET /long 0") == 50
    assert heard.endswith(b"GET /last 0")


def test_the_hundredth_answer_is_the_last_of_a_connection() -> None:
    with running() as lab:
        heard = lab.talk(GET * 101)

    assert heard.count(b"HTTP/1.1 200 OK") == 100
    assert heard.count(b"Connection: Keep-Alive") == 99
    assert heard.count(b"Connection: close") == 1


def test_an_error_ends_the_connection() -> None:
    def refusing(request: Request) -> Response:
        return Response(400, "Parameter verification failed.", JSON, b"{}")

    with running(refusing) as lab:
        heard = lab.talk(GET * 3)

    assert heard.startswith(b"HTTP/1.1 400 Parameter verification failed.\r\n")
    assert heard.count(b"HTTP/1.1") == 1


@pytest.mark.parametrize(
    ("content", "answers", "is_kept"),
    [
        (b"GET / HTTP/1.0\r\n\r\n", b"HTTP/1.0 200 OK", False),
        (b"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", b"HTTP/1.0 200 OK", True),
        (LAST, b"HTTP/1.1 200 OK", False),
    ],
)
def test_the_client_says_whether_a_connection_is_kept(
    content: bytes, answers: bytes, is_kept: bool
) -> None:
    with running() as lab, lab.connect() as line:
        line.sendall(content)

        heard = one_answer(line)

    assert heard.startswith(answers)
    assert (b"Connection: Keep-Alive" in heard) is is_kept


def test_a_long_query_is_no_large_header() -> None:
    with running() as lab:
        heard = lab.talk(request(f"GET /?a={'y' * 20_000}", "Connection: close"))

    assert heard.startswith(b"HTTP/1.1 200 OK")


def test_a_head_without_end_is_cut_off() -> None:
    with running() as lab, lab.connect() as line:
        line.sendall(b"GET /" + b"x" * (1 << 21))

        assert rest(line).startswith(b"HTTP/1.0 431 bad request")


def test_a_long_answer_is_compressed_for_those_who_ask() -> None:
    def long(request: Request) -> Response:
        return Response(headers=JSON, body=b"x" * 1025)

    asks = request("GET /", "Accept-Encoding: deflate, gzip", "Connection: close")
    deflate = request("GET /", "Accept-Encoding: deflate", "Connection: close")
    with running(long) as lab:
        plain, gzip, deflated = lab.talk(LAST), lab.talk(asks), lab.talk(deflate)

    assert plain.endswith(b"x" * 1025)
    assert b"\r\nContent-Encoding: gzip\r\n" in gzip
    assert zlib.decompress(gzip.partition(b"\r\n\r\n")[2], wbits=31) == b"x" * 1025
    assert b"\r\nContent-Encoding: deflate\r\n" in deflated
    assert zlib.decompress(deflated.partition(b"\r\n\r\n")[2]) == b"x" * 1025


def test_a_short_answer_is_not_compressed() -> None:
    def short(request: Request) -> Response:
        return Response(headers=JSON, body=b"x" * 1024)

    with running(short) as lab:
        heard = lab.talk(request("GET /", "Accept-Encoding: gzip", "Connection: close"))

    assert heard.endswith(b"\r\n\r\n" + b"x" * 1024)


@pytest.mark.parametrize(
    ("head", "status"),
    [
        ("GET /api2/json/version?a=1", "301 Moved Permanently"),
        ("POST /api2/json/version?a=1", "308 Permanent Redirect"),
    ],
)
def test_who_speaks_without_encryption_is_sent_to_the_encrypted_door(
    head: str, status: str
) -> None:
    with running(context=encrypted()) as lab:
        heard = lab.talk(request(head, "Content-Length: 0"))

    assert heard.startswith(f"HTTP/1.1 {status}\r\n".encode())
    assert b"\r\nLocation: https://pve1/api2/json/version?a=1\r\n" in heard
    assert b"\r\nConnection: close\r\n" in heard
    assert heard.endswith(status.partition(" ")[2].encode())
