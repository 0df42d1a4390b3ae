"""Answers as bytes: status line, headers in the order of the real server, compressed body."""

from __future__ import annotations

import re
import time
import zlib
from typing import NamedTuple

from stockman_lab.http.messages import Response

_BODILESS = frozenset({100, 101, 102, 103, 204, 304})
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f]")
_WORDS = {
    200: "OK",
    201: "Created",
    202: "Accepted",
    204: "No Content",
    301: "Moved Permanently",
    302: "Found",
    304: "Not Modified",
    308: "Permanent Redirect",
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    500: "Internal Server Error",
    501: "Not Implemented",
    502: "Bad Gateway",
    503: "Service Unavailable",
    506: "Variant Also Negotiates",
}
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_FAST = 1


class Manner(NamedTuple):
    """How an answer goes out, which depends on the request."""

    version: str
    keeps_alive: bool
    encoding: str
    """`gzip`, `deflate`, or empty."""
    date: str
    server: str
    is_head: bool = False
    """Whether only the head of the answer was asked for."""


def rendered(response: Response, manner: Manner) -> bytes:
    """All bytes of an answer."""
    status, reason, body = response.status, response.reason, response.body
    if reason:
        reason = reason.partition("\n")[0]
        if "\r" in reason:
            # Whoever smuggles a line break into an error gets this and no body.
            status, reason, body = 400, "Bad Request", b""
        elif not reason.isprintable():
            reason = _CONTROL.sub("?", reason)
    else:
        reason = _WORDS.get(status, "")
    if status in _BODILESS:
        body = b""
    before, after = "", ""
    for name, value in response.headers.items():
        line = f"{name}: {value}"
        if not line.isprintable():
            line = _CONTROL.sub(" ", line.replace("\n", " "))
        if name.startswith("Content-"):
            after += f"{line}\r\n"
        else:
            before += f"{line}\r\n"
    if body:
        if manner.encoding:
            body = _compress(body, manner.encoding)
            after = f"Content-Encoding: {manner.encoding}\r\nContent-Length: {len(body)}\r\n{after}"
        else:
            after = f"Content-Length: {len(body)}\r\n{after}"
    elif manner.keeps_alive and status not in _BODILESS:
        after = f"Content-Length: 0\r\n{after}"
    head = (
        f"HTTP/{manner.version} {status} {reason}\r\n"
        "Cache-Control: max-age=0\r\n"
        f"Connection: {'Keep-Alive' if manner.keeps_alive else 'close'}\r\n"
        f"Date: {manner.date}\r\n"
        "Pragma: no-cache\r\n"
        f"{before}Server: {manner.server}\r\n"
        f"{after}Expires: {manner.date}\r\n\r\n"
    )
    return head.encode("latin-1", "replace") + body


def encoding_of(accepted: str) -> str:
    """How a body is compressed for a client that accepts this; empty: not at all."""
    if "gzip" in accepted:
        return "gzip"
    return "deflate" if "deflate" in accepted else ""


def http_date(seconds: int) -> str:
    """A moment, given in seconds since 1970, as headers spell it."""
    at = time.gmtime(seconds)
    return (
        f"{_DAYS[at.tm_wday]}, {at.tm_mday:02} {_MONTHS[at.tm_mon - 1]} {at.tm_year:04}"
        f" {at.tm_hour:02}:{at.tm_min:02}:{at.tm_sec:02} GMT"
    )


def _compress(body: bytes, encoding: str) -> bytes:
    if encoding == "gzip":
        return zlib.compress(body, _FAST, wbits=31)
    return zlib.compress(body, _FAST)
