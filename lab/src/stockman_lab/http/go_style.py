"""HTTP as programs written in Go serve it: what they take, and how their answers look."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stockman_lab.http.rules import ServerRules

if TYPE_CHECKING:
    from collections.abc import Callable

    from stockman_lab.http.messages import Response
    from stockman_lab.http.writing import Manner

TEXT = "text/plain; charset=utf-8"
_BODILESS = frozenset({204, 304})
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_MANY = 1 << 30
_SILENCE = 120.0


def go_rules(
    *,
    body_bytes: int,
    asks_for_certificates: bool = False,
    any_method: bool = False,
    oversized: Callable[[], Response] | None = None,
    patience: float | None = None,
) -> ServerRules:
    """The rules of such a server: any method, any type of body, connections that stay."""
    return ServerRules(
        server="",
        methods=_METHODS,
        with_body=_METHODS,
        body_bytes=body_bytes,
        requests=_MANY,
        silence=_SILENCE,
        compress_above=None,
        body_types=None,
        takes_chunks=True,
        stays_after_errors=True,
        says_continue=True,
        render=go_rendered,
        asks_for_certificates=asks_for_certificates,
        redirects_to_tls=False,
        any_method=any_method,
        oversized=oversized,
        patience=patience,
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
    version = "1.0" if manner.version == "1.0" else "1.1"
    lines = [f"HTTP/{version} {response.status} {_clean(reason)}"]
    lines += [f"{name}: {_clean(headers[name])}" for name in sorted(headers)]
    head = "\r\n".join([*lines, "", ""]).encode("latin-1", "replace")
    return head if manner.is_head or not has_body else head + response.body


def text_error(status: int, text: str) -> Response:
    """An error as Go's `http.Error` writes it."""
    from stockman_lab.http.messages import Response

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
