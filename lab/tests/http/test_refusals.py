"""What the server says to requests that it does not take."""

import pytest
from stockman_lab.http.house import House
from stockman_lab.http.refusals import content_type, unreadable


@pytest.mark.parametrize(
    ("head", "status", "reason"),
    [
        (b"GET / HTTP/1.1\r\n: x\r\n\r\n", 506, "unable to parse request header"),
        (b"FOO / HTTP/1.1\r\n a\r\n\r\n", 501, "method 'FOO' not available"),
        (b"GET / HTTP/1.1\r\nTransfer-Encoding: a\r\n\r\n", 501, "Unknown transfer encoding 'a'"),
        (b"FOO / HTTP/1.1\r\nTransfer-Encoding: a\r\n\r\n", 501, "method 'FOO' not available"),
        (b"GET / HTTP/1.1\r\nA\x00: b\r\n\r\n", 400, "bad request"),
        (b"GET a@b HTTP/1.1\r\n\r\n", 400, "invalid url"),
        (b"GET / HTTP/3.1\r\n\r\n", 506, "http protocol version 3.1 not supported"),
        (b"GET  / HTTP/1.1\r\n\r\n", 400, "bad request"),
    ],
)
def test_an_unreadable_head_is_refused_for_the_first_thing_that_is_wrong(
    head: bytes, status: int, reason: str
) -> None:
    said = unreadable(head, House())

    assert (said.status, said.reason) == (status, reason)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("application/json", ("application/json", "")),
        ("application/json ; charset=utf-8", ("application/json", "")),
        ("multipart/form-data; boundary=abc", ("multipart/form-data", "abc")),
        ("multipart/form-data, a=b ; boundary = abc ", ("multipart/form-data", "abc")),
        ('multipart/form-data; boundary="abc"', ("multipart/form-data", '"abc"')),
        ("multipart/form-data; boundary=", ("multipart/form-data", "")),
    ],
)
def test_a_content_type_has_a_kind_and_perhaps_a_boundary(
    text: str, parts: tuple[str, str]
) -> None:
    assert content_type(text) == parts
