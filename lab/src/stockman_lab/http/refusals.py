"""What the real server says to requests that it does not take, in its own order and words."""

from __future__ import annotations

import re

from stockman_lab.http import go_refusals
from stockman_lab.http.house import House
from stockman_lab.http.messages import Request, Response

_REQUEST_LINE = re.compile(rb"(?<!\S)(\S++) (\S++) HTTP/(\d+)\.(\d+)")
_HEADER = re.compile(rb"([^:\s]+)\s*:\s*(.*)")
_PROXY_URL = re.compile(r"[^/]*@")


def refusal(status: int, text: str) -> Response:
    """An error as the server itself sends it: the text is reason and body."""
    return Response(status, text, body=text.encode("latin-1", "replace"))


def unreadable(head: bytes | bytearray, house: House) -> Response:
    """The answer to a head that cannot be read."""
    first, *lines = bytes(head).split(b"\n")
    response = first_line(first)
    if response is not None:
        return response
    transfer = ""
    for line in lines:
        line = line.removesuffix(b"\r")
        if not line:
            break
        found = _HEADER.match(line)
        if found is None and not line[:1].isspace():
            return refusal(506, "unable to parse request header")
        if found is not None and found[1].lower() == b"transfer-encoding":
            transfer = found[2].decode("latin-1")
    method = first.lstrip().split(b" ")[0].decode("latin-1")
    if method not in house.methods:
        return unknown_method(method)
    return transferred(transfer) if transfer else refusal(400, "bad request")


def first_line(line: bytes) -> Response | None:
    """The answer to a first line that is none of a request; None: it is one."""
    found = _REQUEST_LINE.search(line)
    if found is None:
        return refusal(400, "bad request")
    return unknown_version(f"{found[3].decode()}.{found[4].decode()}") or odd_target(
        found[2].decode("latin-1")
    )


def unknown_version(version: str) -> Response | None:
    if version.partition(".")[0] == "1":
        return None
    return refusal(506, f"http protocol version {version} not supported")


def odd_target(target: str) -> Response | None:
    """What stands before an @ could be taken for the name of a host."""
    if target.startswith("/") or not _PROXY_URL.match(target):
        return None
    return refusal(400, "invalid url")


def unknown_method(method: str) -> Response:
    return Response(501, f"method '{method}' not available")


def transferred(encoding: str) -> Response:
    if encoding.lower() == "chunked":
        return refusal(501, "chunked transfer encoding not supported")
    return refusal(501, f"Unknown transfer encoding '{encoding}'")


def insecure(request: Request) -> Response | None:
    """The way to the encrypted door; None where the request does not say which host it means."""
    host = request.headers.get("host", "")
    if not host:
        return None
    place = f"https://{host.removeprefix('http://').removeprefix('https://')}{request.target}"
    permanent = (
        (301, "Moved Permanently") if request.method == "GET" else (308, "Permanent Redirect")
    )
    status, words = permanent
    return Response(status, words, {"Location": place}, words.encode(), close=True)


def by_head(request: Request, house: House) -> Response | None:
    """The answer to a head that is not taken; None: it is."""
    if house.is_go and (response := go_refusals.by_head(request)) is not None:
        return response
    if request.version[:2] != "1.":
        return unknown_version(request.version)
    if request.target[0] != "/" and _PROXY_URL.match(request.target):
        return odd_target(request.target)
    if request.method not in house.methods and not house.any_method:
        return unknown_method(request.method)
    transfer = request.headers.get("transfer-encoding")
    if not transfer or (house.takes_chunks and transfer.lower() == "chunked"):
        return None
    return transferred(transfer)


def by_body(request: Request, house: House) -> Response | None:
    """The answer to a body that is not even read; None: it may come."""
    if request.method not in house.with_body and not house.any_method:
        return refusal(501, f"Unexpected content for method '{request.method}'")
    if house.is_upload(request):
        return None
    if int(request.headers["content-length"]) > house.body_bytes:
        return refusal(501, "for data too large") if house.oversized is None else house.oversized()
    kind = request.headers.get("content-type", "")
    known = house.body_types
    if kind and known is not None and content_type(kind)[0] not in known:
        return refusal(506, f"upload 'Content-Type '{kind}' not implemented")
    return None


def content_type(text: str) -> tuple[str, str]:
    """The type, and the boundary if there is one; quotes around it are taken as part of it."""
    kind, *parameters = text.replace(",", ";").split(";")
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "boundary" and len(value.split()) == 1:
            return kind.strip(), value.strip()
    return kind.strip(), ""
