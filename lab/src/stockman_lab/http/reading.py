"""Requests out of bytes: h11 reads, and what it cannot read is a bad request."""

from __future__ import annotations

import h11

from stockman_lab.http.messages import Request, Response
from stockman_lab.http.refusals import refusal

_LARGEST_HEAD = 1 << 20


class Reader:
    """The requests of one connection, one after another."""

    __slots__ = ("_h11", "_is_empty", "_is_whole")

    def __init__(self) -> None:
        self._h11 = _new_parser()
        self._is_empty = True
        """Whether nothing of a request has come yet."""
        self._is_whole = False

    def feed(self, data: bytes) -> None:
        """Take what the client sent."""
        self._is_empty = False
        self._h11.receive_data(data)

    def next_request(self, content: bytes) -> None:
        """Forget a request that was read; what the client sent beyond it stays."""
        content = self._h11.trailing_data[0] + content
        self._h11 = _new_parser()
        self._is_empty, self._is_whole = True, False
        if content:
            self.feed(content)

    @property
    def is_drained(self) -> bool:
        """Whether all that came was read, up to the end of a request."""
        return self._is_whole and not self._h11.trailing_data[0]

    def head(self, peer: str, *, secure: bool) -> Request | Response | None:
        """Return a request whose body has not been read, or a refusal. None: more has to come."""
        if self._is_empty:
            return None
        try:
            event = self._h11.next_event()
        except h11.RemoteProtocolError as error:
            return refusal(error.error_status_hint, "bad request")
        return self._request(event, peer, secure) if type(event) is h11.Request else None

    def body(self) -> bytes | Response | None:
        """Return the next piece of a body, empty at its end. None: more has to come."""
        if self._is_whole:
            return b""
        try:
            event = self._h11.next_event()
        except h11.RemoteProtocolError:
            return refusal(400, "bad request")
        if type(event) is h11.EndOfMessage:
            self._is_whole = True
            return b""
        return bytes(event.data) if type(event) is h11.Data else None

    def _request(self, event: h11.Request, peer: str, secure: bool) -> Request:
        headers: dict[str, str] = {}
        for raw_name, raw_value in event.headers.raw_items():
            name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
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


def _new_parser() -> h11.Connection:
    return h11.Connection(h11.SERVER, max_incomplete_event_size=_LARGEST_HEAD)
