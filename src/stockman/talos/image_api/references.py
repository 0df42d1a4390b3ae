"""Requests to image factories and registries: references, URLs, the transport, and errors."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import field, replace
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Protocol
from urllib.parse import urlsplit

from stockman.model.errors import (
    Busy,
    Denied,
    NotFound,
    Refused,
    Rejected,
    StockmanError,
    Unreachable,
)
from stockman.model.pattern import pattern
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.model.secret import MASK

_PART = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_REFERENCE = pattern(
    r"(?P<host>(?:\[[0-9A-Fa-f:]+\]|[A-Za-z0-9.-]+)(?::[0-9]{1,5})?)"
    rf"/(?P<path>{_PART}(?:/{_PART})*)"
    r"(?::(?P<tag>[A-Za-z0-9_][A-Za-z0-9._-]{0,127}))?(?:@(?P<digest>sha256:[0-9a-f]{64}))?"
)

_REFERENCE_FIX = "copy the address from the factory or registry"
_HTTPS_FIX = "use an https:// address"


@record
class ImageReference:
    """A container image in a registry."""

    host: str
    """Includes the port unless it is the default."""
    path: str
    tag_or_digest: str
    """Digest or tag."""

    @property
    def is_digest(self) -> bool:
        return ":" in self.tag_or_digest

    @property
    def manifest_url(self) -> str:
        return f"{_scheme(self.host)}://{self.host}/v2/{self.path}/manifests/{self.tag_or_digest}"


def parse_reference(text: str) -> ImageReference:
    """Parse `host/path:tag` or `host/path@digest`; raises Refused for other texts."""
    match = _REFERENCE.fullmatch(text)
    if match is None or not (match["tag"] or match["digest"]):
        raise Refused(
            _address_problem(text, "an image is written as host/path:tag or host/path@digest")
        )
    return ImageReference(
        host=match["host"], path=match["path"], tag_or_digest=match["digest"] or match["tag"]
    )


def base_url(url: str) -> str:
    """Return the URL of a factory without a trailing slash; raises Refused if it is invalid."""
    check_url(url)
    parts = urlsplit(url)
    if parts.query or parts.fragment:
        raise Refused(_address_problem(url, "it must be https://host without a query"))
    return url.rstrip("/")


def check_url(url: str) -> str:
    """Return a URL if it may be requested; raises Refused for others."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise Refused(_address_problem(url, "it is not a valid URL")) from None
    if not host or parts.username is not None or parts.scheme not in ("http", "https"):
        raise Refused(_address_problem(url, "it must be https://host/path"))
    if parts.scheme == "http" and not is_loopback(host):
        raise Refused(
            _address_problem(url, "without https, an attacker could replace the image", _HTTPS_FIX)
        )
    return url


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _scheme(host: str) -> str:
    bare = host if host.endswith("]") else re.sub(r":[0-9]+$", "", host)
    return "http" if is_loopback(bare) else "https"


def _address_problem(text: str, why: str, fix: str = _REFERENCE_FIX) -> Problem:
    return Problem(
        code="images.address",
        what="the image address is invalid",
        where=re.sub(r"//[^/]*@", f"//{MASK}@", text),
        why=why,
        fix=fix,
    )


@record
class ImageRequest:
    """An HTTP request."""

    url: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def shown(self) -> str:
        """The request for messages; without the query, which may contain signatures."""
        return f"{self.method} {self.url.partition('?')[0]}"


@record
class ImageResponse:
    """A complete HTTP response."""

    status: int
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes = b""


@record
class ImageStream:
    """A response that is read in chunks."""

    response: ImageResponse
    """Has a body only for errors."""
    chunks: AsyncIterator[bytes]


class ImageTransport(Protocol):
    """Sends requests. Raises `Unreachable` without a response; any response is returned."""

    async def ask(self, request: ImageRequest) -> ImageResponse:
        """Return the whole response; it is never large."""
        ...

    def stream(self, request: ImageRequest) -> AbstractAsyncContextManager[ImageStream]:
        """Return a response of any size."""
        ...


_LONGEST = 300
_CONTROL = pattern(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


_ERROR_TEXTS = {
    "images.answer": (
        "the server is not a supported image factory or registry",
        "check talos.factory_url and mirrors; a proxy may have answered instead",
    ),
    "images.busy": (
        "the image source limits the rate of requests",
        "try again later; your own mirror has no such limit",
    ),
    "images.content": (
        "the downloaded content does not match",
        "try again; if it persists, check caches and proxies on the way",
    ),
    "images.denied": (
        "the image source requires authentication",
        "use a public repository or your own mirror",
    ),
    "images.not-found": (
        "the image, schematic or version does not exist",
        "check version and schematic; a schematic must be registered at the factory first",
    ),
    "images.rejected": (
        "the image source rejected the request",
        "correct the schematic or the version according to the response",
    ),
    "images.unreachable": (
        "the image source is not available",
        "try again later; check the network and the factory or registry",
    ),
}
"""What is wrong, and how to fix it, by problem code."""


def response_error(request: ImageRequest, response: ImageResponse) -> StockmanError:
    """Return the error for an error response."""
    message = _response_message(response)
    match response.status:
        case HTTPStatus.NOT_FOUND:
            return NotFound(_problem("images.not-found", request, message))
        case HTTPStatus.UNAUTHORIZED | HTTPStatus.FORBIDDEN:
            return Denied(_problem("images.denied", request, message))
        case HTTPStatus.TOO_MANY_REQUESTS:
            problem = _problem("images.busy", request, message)
            after = retry_after(response.headers)
            if after is not None:
                fix = problem.fix.replace("try again later", f"wait {after:g} s and try again")
                problem = replace(problem, fix=fix)
            return Busy(problem, after)
        case status if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            return unreachable_error(request, message)
    return Rejected(_problem("images.rejected", request, message))


def unreachable_error(request: ImageRequest, why: str) -> Unreachable:
    """Return the error for a server that did not answer, or is unavailable."""
    return Unreachable(_problem("images.unreachable", request, why))


def invalid_response_error(request: ImageRequest, why: str) -> Rejected:
    """Return the error for an invalid response."""
    return Rejected(_problem("images.answer", request, why))


def content_mismatch_error(request: ImageRequest, why: str) -> Rejected:
    """Return the error for content that does not match its announced size or digest."""
    return Rejected(_problem("images.content", request, why))


def _problem(code: str, request: ImageRequest, why: str) -> Problem:
    what, fix = _ERROR_TEXTS[code]
    return Problem(code=code, what=what, where=request.shown, why=why, fix=fix)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds to wait that a server requests. None: not specified."""
    text = headers.get("retry-after", "")
    if text.isascii() and text.isdecimal():
        return float(text)
    try:
        until, now = (parsedate_to_datetime(date) for date in (text, headers.get("date", "")))
    except ValueError:
        return None
    return max((until - now).total_seconds(), 0.0)


def _response_message(response: ImageResponse) -> str:
    try:
        phrase = HTTPStatus(response.status).phrase
    except ValueError:
        phrase = ""
    text = _CONTROL.sub(" ", response.body[:4096].decode("utf-8", "replace")).strip()
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST]}..."
    status = f"status {response.status} {phrase}".rstrip()
    return f"{status}: {text}" if text else status
