"""Read the clock of a web server from the `Date` header."""

from __future__ import annotations

import socket
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from stockman.ports.environment import NoAnswer

_MOST_BYTES = 16 * 1024
_HALF_A_SECOND = 0.5
"""The average fraction of a second that the header omits."""


def request_date(connection: socket.socket, host: str) -> datetime:
    """Send a request without credentials and return the date of the reply."""
    request = (
        f"HEAD / HTTP/1.1\r\nHost: {host}\r\nUser-Agent: stockman\r\nConnection: close\r\n\r\n"
    )
    connection.sendall(request.encode("ascii"))
    answer = b""
    while b"\r\n\r\n" not in answer and len(answer) < _MOST_BYTES:
        chunk = connection.recv(4096)
        if not chunk:
            break
        answer += chunk
    return _date(answer)


def seconds_ahead(date: datetime, before: float, after: float) -> float:
    """Return how far a server is ahead, given the local Unix time before and after the request."""
    return date.timestamp() + _HALF_A_SECOND - (before + after) / 2


def _date(answer: bytes) -> datetime:
    for line in answer.split(b"\r\n\r\n")[0].decode("latin-1").split("\r\n"):
        name, _, value = line.partition(":")
        if name.strip().lower() == "date":
            try:
                date = parsedate_to_datetime(value.strip())
            except ValueError:
                break
            return date if date.tzinfo is not None else date.replace(tzinfo=UTC)
    raise NoAnswer("its reply has no date")
