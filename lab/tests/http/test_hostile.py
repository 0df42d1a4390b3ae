"""Whatever is sent, the server answers or hangs up, and goes on serving others."""

import socket
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.tests.http.serving import Running, encrypted, rest, running

LAST = b"GET /last HTTP/1.1\r\nHost: pve1\r\nConnection: close\r\n\r\n"
PIECES = st.sampled_from(
    [
        b"GET ",
        b"POST ",
        b"HEAD ",
        b"/",
        b" HTTP/1.1",
        b" HTTP/1.0",
        b"\r\n",
        b"\n",
        b"\r",
        b"Host: a\r\n",
        b"Content-Length: ",
        b"5",
        b"-1",
        b"18446744073709551616",
        b"Transfer-Encoding: chunked\r\n",
        b"Connection: close\r\n",
        b"Expect: 100-continue\r\n",
        b"Upgrade: websocket\r\n",
        b"\x00",
        b"\xff",
        b"\x16\x03\x01",
        b"x" * 9000,
        b": ",
        b" ",
    ]
)
HOSTILE = st.binary(max_size=300) | st.lists(PIECES, max_size=25).map(b"".join)


@pytest.fixture(scope="module")
def plain() -> Iterator[Running]:
    with running() as lab:
        yield lab


@pytest.fixture(scope="module")
def secure() -> Iterator[Running]:
    with running(context=encrypted()) as lab:
        yield lab


@given(data=HOSTILE)
def test_any_bytes_are_answered_or_cut_off(plain: Running, data: bytes) -> None:
    _endure(plain, data)

    assert plain.talk(LAST).startswith(b"HTTP/1.1 200 OK")


@given(data=HOSTILE | st.binary(max_size=300).map(lambda data: b"\x16\x03\x01" + data))
def test_any_bytes_at_the_encrypted_door_are_answered_or_cut_off(
    secure: Running, data: bytes
) -> None:
    _endure(secure, data)

    assert secure.talk(LAST).startswith(b"HTTP/1.1 301 Moved Permanently")


def _endure(lab: Running, data: bytes) -> None:
    """Send, stop sending, and read to the end; that it comes is the point."""
    with lab.connect() as line:
        try:
            line.sendall(data)
            line.shutdown(socket.SHUT_WR)
            heard = rest(line)
        except ConnectionError:
            heard = b""
    assert heard[:5] in (b"", b"HTTP/") or heard[:1] == b"\x15"
    lab.wait_until(lambda server: server.connections == 0)
    assert lab.troubles == []
