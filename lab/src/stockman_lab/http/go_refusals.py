"""What servers written in Go say to bytes that are no request of theirs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from stockman_lab.http.messages import Response

if TYPE_CHECKING:
    from stockman_lab.http.messages import Request

PLAIN = b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"
"""The answer to somebody who does not speak TLS."""
_BEGINNINGS = (b"GET /", b"HEAD ", b"POST ", b"PUT /", b"OPTIO")
_LINE = re.compile(rb"(\S+) (\S.*) (HTTP/\S*)")
_VERSION = re.compile(rb"HTTP/(\d)\.(\d)")
_NAME = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_BROKEN = re.compile("%(?![0-9a-fA-F]{2})")
_TEXT = "text/plain; charset=utf-8"


def speaks_plainly(data: bytes) -> bool:
    """Whether a client begins with a request where a handshake was expected."""
    return data.startswith(_BEGINNINGS)


def refused(status: int, words: str, more: str = "") -> Response:
    """An answer of the server itself, without anything that handlers add."""
    told = f"{words}: {more}" if more else words
    body = f"{status} {told}".encode()
    return Response(status, told, {"Content-Type": _TEXT}, body, close=True, is_bare=True)


def bad_request(more: str = "") -> Response:
    return refused(400, "Bad Request", more)


def too_large() -> Response:
    """The head of a request is."""
    return refused(431, "Request Header Fields Too Large")


def unreadable(head: bytes, hint: int) -> Response:
    """The answer to a head that cannot be read; the hint is the status that it suggests."""
    if hint == too_large().status:
        return too_large()
    first, *lines = head.split(b"\n")
    response = first_line(first.removesuffix(b"\r"))
    if response is not None:
        return response
    names = [line.partition(b":")[0] for line in lines if line.strip() and b":" in line]
    if any(b" " in name.strip() for name in names):
        return bad_request("invalid header name")
    told = {name.strip().lower() for name in names}
    if b"transfer-encoding" in told:
        text = "Unsupported transfer encoding"
        headers = {"Content-Type": _TEXT}
        return Response(501, "Not Implemented", headers, text.encode(), close=True, is_bare=True)
    if b"host" not in told and all(_NAME.fullmatch(one) for one in told):
        return bad_request("missing required Host header")
    return bad_request()


def first_line(line: bytes) -> Response | None:
    """The answer to a first line that is none of a request; None: it is one."""
    found = _LINE.fullmatch(line)
    version = None if found is None else _VERSION.fullmatch(found[3])
    if found is None or version is None or not _NAME.fullmatch(found[1]):
        return bad_request()
    return None if version[1] == b"1" else _unknown_version()


def _unknown_version() -> Response:
    return refused(505, "HTTP Version Not Supported", "unsupported protocol version")


def by_head(request: Request) -> Response | None:
    """The answer to a head that can be read and is not taken; None: it is."""
    if request.version[:2] != "1.":
        return _unknown_version()
    if _BROKEN.search(request.target.partition("?")[0]):
        return bad_request()
    if request.headers.get("expect", "100-continue").lower() != "100-continue":
        return Response(417, "Expectation Failed", close=True)
    return None
