"""What is no request is answered as servers written in Go answer it."""

from __future__ import annotations

import socket

import pytest
from stockman_lab.http.go_style import go_house
from stockman_lab.http.messages import Request, Response

from lab.tests.http.no_requests import NO_REQUESTS
from lab.tests.http.serving import answer, encrypted, one_answer, rest, running

HOUSE = go_house(body_bytes=1000, any_method=True, oversized=lambda: Response(413, close=True))
TOLD = {
    "no host": "400 Bad Request: missing required Host header",
    "a header with a blank": "400 Bad Request: invalid header name",
    "a version to come": "505 HTTP Version Not Supported: unsupported protocol version",
    "a version of old": "505 HTTP Version Not Supported: unsupported protocol version",
    "a head without an end": "431 Request Header Fields Too Large",
    "a long path": "431 Request Header Fields Too Large",
}


def bare(told: str, body: str = "") -> bytes:
    head = f"HTTP/1.1 {told}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n"
    return f"{head}\r\n{body or told}".encode()


def said(line: socket.socket, sent: bytes) -> bytes:
    line.sendall(sent)
    return rest(line)


@pytest.mark.parametrize("odd", [one for one in NO_REQUESTS if one != "an unknown encoding"])
def test_the_line_ends_with_a_word_of_why(odd: str) -> None:
    with running(answer, HOUSE) as server, server.connect() as line:
        found = said(line, NO_REQUESTS[odd])

    assert found == bare(TOLD.get(odd, "400 Bad Request"))


def test_encodings_that_nobody_knows_are_not_implemented() -> None:
    with running(answer, HOUSE) as server, server.connect() as line:
        found = said(line, NO_REQUESTS["an unknown encoding"])

    assert found == bare("501 Not Implemented", "Unsupported transfer encoding")


def test_somebody_who_does_not_encrypt_is_told_so() -> None:
    with running(answer, HOUSE, encrypted()) as server, server.connect() as line:
        found = said(line, b"GET / HTTP/1.1\r\nHost: lab\r\n\r\n")

    told = b"Client sent an HTTP request to an HTTPS server.\n"
    assert found == b"HTTP/1.0 400 Bad Request\r\n\r\n" + told


def test_noise_instead_of_a_handshake_is_not_answered() -> None:
    with running(answer, HOUSE, encrypted()) as server, server.connect() as line:
        assert said(line, b"hello world\r\n\r\n") == b""


def test_a_thousand_headers_and_odd_methods_are_taken() -> None:
    many = "".join(f"A{number}: b\r\n" for number in range(2000))
    with running(answer, HOUSE) as server, server.connect() as line:
        line.sendall(f"BREW / HTTP/1.1\r\nHost: lab\r\n{many}\r\n".encode())

        assert one_answer(line).startswith(b"HTTP/1.1 200 OK")


def test_expectations_that_nobody_knows_fail() -> None:
    head = b"POST / HTTP/1.1\r\nHost: lab\r\nExpect: tea\r\nContent-Length: 2\r\n\r\n"
    with running(answer, HOUSE) as server, server.connect() as line:
        assert said(line, head).startswith(b"HTTP/1.1 417 Expectation Failed\r\n")


def test_too_much_is_refused_in_the_words_of_the_house() -> None:
    head = b"POST / HTTP/1.1\r\nHost: lab\r\nContent-Length: 1001\r\n\r\n"
    with running(answer, HOUSE) as server, server.connect() as line:
        assert said(line, head).startswith(b"HTTP/1.1 413 ")


def test_old_clients_are_answered_in_their_version() -> None:
    def told(request: Request) -> Response:
        return Response(body=request.version.encode())

    with running(told, HOUSE) as server, server.connect() as line:
        assert said(line, b"GET / HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.0 200 OK\r\n")
