"""Requests out of bytes."""

from stockman_lab.http.messages import Request
from stockman_lab.http.reading import Reader


def read(data: bytes) -> Request:
    reader = Reader()
    reader.feed(data)
    request = reader.head("127.0.0.1", secure=True)
    assert isinstance(request, Request)
    return request


def test_a_repeated_header_is_joined_with_commas() -> None:
    request = read(b"GET / HTTP/1.1\r\nHost: a\r\nCookie: a=1\r\ncookie: b=2\r\n\r\n")

    assert request.headers == {"host": "a", "cookie": "a=1, b=2"}


def test_a_request_tells_who_asks_and_how() -> None:
    request = read(b"PUT /a%20b?c=d HTTP/1.0\r\n\r\n")

    assert (request.method, request.target) == ("PUT", "/a%20b?c=d")
    assert (request.peer, request.secure, request.version) == ("127.0.0.1", True, "1.0")
    assert (request.headers, request.body, request.upload) == ({}, b"", None)


def test_half_a_head_is_nothing_yet() -> None:
    reader = Reader()
    reader.feed(b"GET / HTTP/1.1\r\nHost: a\r\n")

    assert reader.head("", secure=False) is None


def test_what_follows_a_request_is_the_next_one() -> None:
    reader = Reader()
    reader.feed(b"GET /a HTTP/1.1\r\nHost: a\r\n\r\nGET /b HTTP/1.1\r\nHo")
    reader.head("", secure=False)
    is_drained = reader.is_drained

    reader.next_request(b"st: a\r\n\r\n")
    second = reader.head("", secure=False)

    assert not is_drained
    assert isinstance(second, Request)
    assert second.target == "/b"
    assert reader.is_drained
