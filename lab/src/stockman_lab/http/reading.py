"""Requests out of bytes: h11 reads, and what it cannot read is answered as the real server does."""

from __future__ import annotations

from enum import Enum, auto

import h11

from stockman_lab.http import go_refusals, refusals
from stockman_lab.http.house import House
from stockman_lab.http.messages import Request, Response

_LARGEST_HEAD = 528 * 1024
"""What the real server keeps of one client, body included."""


_SLOP = 4096
"""What servers written in Go take beyond their limit."""


class Nothing(Enum):
    """Why there is no request, and no answer either."""

    YET = auto()
    """More has to come."""
    EVER = auto()
    """The head breaks a limit: the real server falls silent."""


def _reader_of(house: House) -> h11.Connection:
    most = house.header_bytes + _SLOP if house.is_go else _LARGEST_HEAD
    return h11.Connection(h11.SERVER, max_incomplete_event_size=most)


class Reader:
    """The requests of one connection, one after another."""

    __slots__ = ("_begins_well", "_h11", "_head", "_house", "_is_whole")

    def __init__(self, house: House) -> None:
        self._house = house
        self._h11 = _reader_of(self._house)
        self._head: bytes | bytearray = b""
        """What came of a request whose head is not there in full."""
        self._begins_well = False
        self._is_whole = False

    def feed(self, data: bytes) -> None:
        """Take what the client sent."""
        self._h11.receive_data(data)

    def feed_head(self, data: bytes) -> None:
        """Take what belongs to the head of a request, or begins with it."""
        if not self._head:
            data = data.lstrip(b"\r\n") if data[0] in b"\r\n" else data
            if not data:
                return
            self._head = data
        else:
            if isinstance(self._head, bytes):
                self._head = bytearray(self._head)
            self._head += data
        self._h11.receive_data(data)

    def next_request(self, rest: bytes) -> None:
        """Forget a request that was read; what the client sent beyond it stays."""
        rest = self._h11.trailing_data[0] + rest
        self._h11 = _reader_of(self._house)
        self._head = b""
        self._begins_well = self._is_whole = False
        if rest:
            self.feed_head(rest)

    @property
    def is_drained(self) -> bool:
        """Whether all that came was read, up to the end of a request."""
        return self._is_whole and not self._h11.trailing_data[0]

    def head(self, peer: str, *, secure: bool) -> Request | Response | Nothing:
        """A request whose body has not been read, or the answer to something that is none."""
        if not self._head:
            return Nothing.YET
        try:
            event = self._h11.next_event()
        except h11.RemoteProtocolError as why:
            if self._house.is_go:
                return go_refusals.unreadable(bytes(self._head), why.error_status_hint)
            return refusals.unreadable(self._head, self._house)
        if type(event) is h11.Request:
            return self._request(event, peer, secure)
        return Nothing.YET if self._begins_well else self._first_line()

    def body(self) -> bytes | Response | Nothing:
        """The next piece of a body; empty: there was the end of it."""
        if self._is_whole:
            return b""
        try:
            event = self._h11.next_event()
        except h11.RemoteProtocolError:
            if self._house.is_go:
                return go_refusals.bad_request()
            return refusals.refusal(400, "bad request")
        if type(event) is h11.EndOfMessage:
            self._is_whole = True
            return b""
        return bytes(event.data) if type(event) is h11.Data else Nothing.YET

    def _first_line(self) -> Response | Nothing:
        """What to say to a first line, even though the rest has not come yet."""
        end = self._head.find(b"\n")
        if end < 0:
            return Nothing.YET
        self._begins_well = True
        if self._house.is_go:
            line = bytes(self._head[:end]).removesuffix(b"\r")
            return go_refusals.first_line(line) or Nothing.YET
        return refusals.first_line(bytes(self._head[:end])) or Nothing.YET

    def _request(self, event: h11.Request, peer: str, secure: bool) -> Request | Response | Nothing:
        headers: dict[str, str] = {}
        for raw_name, raw_value in event.headers.raw_items():
            name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
        if self._is_too_large(event, headers):
            return go_refusals.too_large() if self._house.is_go else Nothing.EVER
        # h11 would only confirm it, and takes its time.
        self._is_whole = (
            headers.get("content-length", "0") == "0" and "transfer-encoding" not in headers
        )
        return Request(
            event.method.decode("latin-1"),
            event.target.decode("latin-1"),
            headers,
            b"",
            peer,
            secure,
            event.http_version.decode("latin-1"),
        )

    def _is_too_large(self, event: h11.Request, headers: dict[str, str]) -> bool:
        # The empty line at the end is counted as well.
        if len(event.headers) + 1 >= self._house.header_lines:
            return True
        if len(self._head) < self._house.header_bytes:
            return False
        size = sum(len(name) + len(value) + 2 for name, value in headers.items())
        return size >= self._house.header_bytes
