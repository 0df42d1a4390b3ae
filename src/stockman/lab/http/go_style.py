"""HTTP as programs written in Go serve it: what they take, and how their answers look."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stockman.lab.http.house import House

if TYPE_CHECKING:
    from stockman.lab.http.messages import Response
    from stockman.lab.http.writing import Manner

TEXT = "text/plain; charset=utf-8"
_BODILESS = frozenset({204, 304})
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_HEADER_BYTES = 1 << 20
_MANY = 1 << 30


def go_house(
    *, body_bytes: int, silence: float = 120.0, asks_for_certificates: bool = False
) -> House:
    """The rules of such a server: any method, any type of body, connections that stay."""
    return House(
        server="",
        methods=_METHODS,
        with_body=_METHODS,
        header_lines=1000,
        header_bytes=_HEADER_BYTES,
        body_bytes=body_bytes,
        requests=_MANY,
        silence=silence,
        compress_above=None,
        body_types=None,
        takes_chunks=True,
        stays_after_errors=True,
        says_continue=True,
        render=go_rendered,
        asks_for_certificates=asks_for_certificates,
    )


def go_rendered(response: Response, manner: Manner) -> bytes:
    """All bytes of an answer; one to HEAD tells the length that GET would have."""
    headers = dict(response.headers)
    has_body = response.status not in _BODILESS
    if has_body and "Transfer-Encoding" not in headers:
        headers.setdefault("Content-Length", str(len(response.body)))
    headers.setdefault("Date", manner.date)
    if not manner.keeps_alive:
        headers["Connection"] = "close"
    reason = response.reason or words(response.status)
    lines = [f"HTTP/1.1 {response.status} {_clean(reason)}"]
    lines += [f"{name}: {_clean(headers[name])}" for name in sorted(headers)]
    head = "\r\n".join([*lines, "", ""]).encode("latin-1", "replace")
    return head if manner.is_head or not has_body else head + response.body


def text_error(status: int, text: str) -> Response:
    """An error as Go's `http.Error` writes it."""
    from stockman.lab.http.messages import Response

    headers = {"Content-Type": TEXT, "X-Content-Type-Options": "nosniff"}
    return Response(status, headers=headers, body=f"{text}\n".encode())


def words(status: int) -> str:
    """The usual words for a status."""
    from http import HTTPStatus

    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return f"status code {status}"


def _clean(text: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in text)
