"""The clock of a web server, as the `Date` header of its answers tells it."""

from __future__ import annotations

import socket
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from stockman.ports.environment import NoAnswer

_MOST_BYTES = 16 * 1024
_HALF_A_SECOND = 0.5
"""A date leaves out the fraction, which is this on average."""


def request_date(connection: socket.socket, host: str) -> datetime:
    """The date that a server puts on its answer to a question without credentials."""
    request = (
        f"HEAD / HTTP/1.1\r\nHost: {host}\r\nUser-Agent: stockman\r\nConnection: close\r\n\r\n"
    )
    connection.sendall(request.encode("ascii"))
    answer = b""
    while b"\r\n\r\n" not in answer and len(answer) < _MOST_BYTES:
        part = connection.recv(4096)
        if not part:
            break
        answer += part
    return _date(answer)


def seconds_ahead(date: datetime, before: float, after: float) -> float:
    """Seconds that a server is ahead, given our Unix time when we asked and when it answered."""
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
    raise NoAnswer("its answer carries no date")
