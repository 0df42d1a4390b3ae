"""Convert error responses of the image factory and of registries to our errors."""

from __future__ import annotations

from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from http import HTTPStatus

from stockman.model.errors import Busy, Denied, NotFound, Rejected, StockmanError, Unreachable
from stockman.model.pattern import pattern
from stockman.model.problem import Problem
from stockman.talos.image_api.transport import ImageRequest, ImageResponse

_LONGEST = 300
_CONTROL = pattern(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


def response_error(request: ImageRequest, response: ImageResponse) -> StockmanError:
    """Return the error for an error response."""
    message = _response_message(response)
    match response.status:
        case HTTPStatus.NOT_FOUND:
            return NotFound(_not_found_problem(request, message))
        case HTTPStatus.UNAUTHORIZED | HTTPStatus.FORBIDDEN:
            return Denied(_permission_problem(request, message))
        case HTTPStatus.TOO_MANY_REQUESTS:
            after = retry_after(response.headers)
            return Busy(_busy_problem(request, message, after), after)
        case status if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            return unreachable_error(request, message)
    return Rejected(_invalid_request_problem(request, message))


def unreachable_error(request: ImageRequest, why: str) -> Unreachable:
    """Return the error for a server that did not answer, or is unavailable."""
    return Unreachable(
        Problem(
            code="images.unreachable",
            what="the image source is not available",
            where=request.shown,
            why=why,
            fix="try again later; check the network and the factory or registry",
        )
    )


def invalid_response_error(request: ImageRequest, why: str) -> Rejected:
    """Return the error for an invalid response."""
    return Rejected(
        Problem(
            code="images.answer",
            what="the server is not a supported image factory or registry",
            where=request.shown,
            why=why,
            fix="check talos.factory_url and mirrors; a proxy may have answered instead",
        )
    )


def content_mismatch_error(request: ImageRequest, why: str) -> Rejected:
    """Return the error for content that does not match its announced size or digest."""
    return Rejected(
        Problem(
            code="images.content",
            what="the downloaded content does not match",
            where=request.shown,
            why=why,
            fix="try again; if it persists, check caches and proxies on the way",
        )
    )


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


def _not_found_problem(request: ImageRequest, why: str) -> Problem:
    return Problem(
        code="images.not-found",
        what="the image, schematic or version does not exist",
        where=request.shown,
        why=why,
        fix="check version and schematic; a schematic must be registered at the factory first",
    )


def _permission_problem(request: ImageRequest, why: str) -> Problem:
    return Problem(
        code="images.denied",
        what="the image source requires authentication",
        where=request.shown,
        why=why,
        fix="use a public repository or your own mirror",
    )


def _busy_problem(request: ImageRequest, why: str, after: float | None) -> Problem:
    wait = f"wait {after:g} s and try again" if after is not None else "try again later"
    return Problem(
        code="images.busy",
        what="the image source limits the rate of requests",
        where=request.shown,
        why=why,
        fix=f"{wait}; your own mirror has no such limit",
    )


def _invalid_request_problem(request: ImageRequest, why: str) -> Problem:
    return Problem(
        code="images.rejected",
        what="the image source rejected the request",
        where=request.shown,
        why=why,
        fix="correct the schematic or the version according to the response",
    )
