"""What the real server says to requests that it does not take, in its own order and words."""

from __future__ import annotations

from stockman_lab.http.messages import Request, Response
from stockman_lab.http.rules import ServerRules


def refusal(status: int, text: str) -> Response:
    """An error as the server itself sends it: the text is reason and body."""
    return Response(status, text, body=text.encode("latin-1", "replace"))


def unknown_method(method: str) -> Response:
    return Response(501, f"method '{method}' not available")


def insecure(request: Request, rules: ServerRules) -> Response:
    """The answer to a client that does not encrypt."""
    host = request.headers.get("host", "")
    if not host or not rules.redirects_to_tls:
        text = "Client sent an HTTP request to an HTTPS server."
        return Response(400, body=f"{text}\n".encode(), close=True)
    place = f"https://{host.removeprefix('http://').removeprefix('https://')}{request.target}"
    permanent = (
        (301, "Moved Permanently") if request.method == "GET" else (308, "Permanent Redirect")
    )
    status, words = permanent
    return Response(status, words, {"Location": place}, words.encode(), close=True)


def by_head(request: Request, rules: ServerRules) -> Response | None:
    """The answer to a head that is not taken; None: it is."""
    if request.method not in rules.methods and not rules.any_method:
        return unknown_method(request.method)
    if "transfer-encoding" in request.headers and not rules.takes_chunks:
        return refusal(501, "chunked transfer encoding not supported")
    return None


def by_body(request: Request, rules: ServerRules) -> Response | None:
    """The answer to a body that is not even read; None: it may come."""
    if request.method not in rules.with_body and not rules.any_method:
        return refusal(501, f"Unexpected content for method '{request.method}'")
    if rules.is_upload(request):
        return None
    if int(request.headers["content-length"]) > rules.body_bytes:
        return refusal(501, "for data too large") if rules.oversized is None else rules.oversized()
    kind = request.headers.get("content-type", "")
    known = rules.body_types
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
