"""What answers that are a no mean, in our words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from http import HTTPStatus

from stockman.model.errors import Busy, Denied, NotFound, Rejected, StockmanError, Unreachable
from stockman.model.problem import Problem
from stockman.talos.image_api.transport import ImageRequest, ImageResponse

_LONGEST = 300
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


def response_error(question: ImageRequest, answer: ImageResponse) -> StockmanError:
    """The error that a no stands for."""
    told = _response_message(answer)
    match answer.status:
        case HTTPStatus.NOT_FOUND:
            return NotFound(_not_found_problem(question, told))
        case HTTPStatus.UNAUTHORIZED | HTTPStatus.FORBIDDEN:
            return Denied(_permission_problem(question, told))
        case HTTPStatus.TOO_MANY_REQUESTS:
            after = retry_after(answer.headers)
            return Busy(_busy_problem(question, told, after), after)
        case status if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            return unreachable_error(question, told)
    return Rejected(_invalid_request_problem(question, told))


def unreachable_error(question: ImageRequest, why: str) -> Unreachable:
    """Nobody answered, or only that it cannot."""
    return Unreachable(
        Problem(
            code="images.unreachable",
            what="the source of images gives no answer",
            where=question.shown,
            why=why,
            fix="try again later; check the network and whether the factory or registry is up",
        )
    )


def invalid_response_error(question: ImageRequest, why: str) -> Rejected:
    """An answer that is not one."""
    return Rejected(
        Problem(
            code="images.answer",
            what="what answers is neither an Image Factory nor a registry as we know them",
            where=question.shown,
            why=why,
            fix="check talos.factory_url and mirrors; a proxy in between may have answered instead",
        )
    )


def content_mismatch_error(question: ImageRequest, why: str) -> Rejected:
    """Bytes that are not those that were announced or asked for."""
    return Rejected(
        Problem(
            code="images.content",
            what="what was sent is not what it should be",
            where=question.shown,
            why=why,
            fix="try again; if it stays so, look who serves it: a cache or a proxy in between",
        )
    )


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that a server wants to be left alone. None: it does not say."""
    text = headers.get("retry-after", "")
    if text.isascii() and text.isdecimal():
        return float(text)
    try:
        until, now = (parsedate_to_datetime(one) for one in (text, headers.get("date", "")))
    except ValueError:
        return None
    return max((until - now).total_seconds(), 0.0)


def _response_message(answer: ImageResponse) -> str:
    try:
        phrase = HTTPStatus(answer.status).phrase
    except ValueError:
        phrase = ""
    text = _CONTROL.sub(" ", answer.body[:4096].decode("utf-8", "replace")).strip()
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST]}..."
    said = f"it answers {answer.status} {phrase}".rstrip()
    return f"{said}: {text}" if text else said


def _not_found_problem(question: ImageRequest, why: str) -> Problem:
    return Problem(
        code="images.not-found",
        what="there is no such image, schematic or version",
        where=question.shown,
        why=why,
        fix="check version and schematic; a factory knows a schematic once it was registered there",
    )


def _permission_problem(question: ImageRequest, why: str) -> Problem:
    return Problem(
        code="images.denied",
        what="the source of images does not show this to the public",
        where=question.shown,
        why=why,
        fix="take it from a public repository or a mirror of your own",
    )


def _busy_problem(question: ImageRequest, why: str, after: float | None) -> Problem:
    wait = f"wait {after:g} s and try again" if after is not None else "try again later"
    return Problem(
        code="images.busy",
        what="the source of images wants fewer questions",
        where=question.shown,
        why=why,
        fix=f"{wait}; a mirror of your own has no such limit",
    )


def _invalid_request_problem(question: ImageRequest, why: str) -> Problem:
    return Problem(
        code="images.rejected",
        what="the source of images refuses what it was asked for",
        where=question.shown,
        why=why,
        fix="change the schematic or the version as the answer says",
    )
