"""Translate error replies of S3 to errors of stockman."""

from __future__ import annotations

from http import HTTPStatus

from stockman.model.errors import (
    Busy,
    Conflict,
    Denied,
    NotFound,
    Rejected,
    StockmanError,
    Uncertain,
    Unreachable,
)
from stockman.model.pattern import pattern
from stockman.model.problem import Problem

_CODE = pattern(r"<Code>([A-Za-z0-9]{1,64})</Code>")
_CLOCK = "RequestTimeTooSkewed"
_RATE_LIMIT_CODES = frozenset({"SlowDown", "TooManyRequests", "ServiceUnavailable"})


def reply_error(shown: str, status: int, text: str, *, once: bool = False) -> StockmanError:
    """Return the error for an error reply; of its text only the S3 code is shown.

    `once`: the request must not be repeated.
    """
    match = _CODE.search(text)
    code = match[1] if match else ""
    why = status_text(status, code)
    if once and status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return uncertain(shown, why)
    match status:
        case _ if status < HTTPStatus.BAD_REQUEST:
            return unexpected_answer(shown, why)
        case HTTPStatus.NOT_FOUND:
            return NotFound(_not_found_problem(shown, why))
        case HTTPStatus.PRECONDITION_FAILED | HTTPStatus.CONFLICT:
            return conflict(shown, why)
        case HTTPStatus.UNAUTHORIZED | HTTPStatus.FORBIDDEN:
            return Denied(
                _clock_problem(shown, why) if code == _CLOCK else _permission_problem(shown, why)
            )
        case HTTPStatus.TOO_MANY_REQUESTS:
            return Busy(_busy_problem(shown, why))
        case _ if code in _RATE_LIMIT_CODES:
            return Busy(_busy_problem(shown, why))
        case _ if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            return unreachable(shown, why)
    return Rejected(_rejection_problem(shown, why))


def status_text(status: int, code: str) -> str:
    """Return status and S3 code as a clause."""
    return f"it replies {status} {code}".rstrip()


def lost_reply(shown: str, why: str, *, once: bool) -> StockmanError:
    """Return the error for a missing reply."""
    return uncertain(shown, why) if once else unreachable(shown, why)


def unreachable(shown: str, why: str) -> Unreachable:
    """Return the error for a storage that does not respond or is unavailable."""
    return Unreachable(
        Problem(
            code="objects.unreachable",
            what="the S3 storage does not respond",
            where=shown,
            why=why,
            fix="check the endpoint, the network and whether the storage is up, then try again",
        )
    )


def uncertain(shown: str, why: str) -> Uncertain:
    """Return the error for a lost reply to a request that must not be repeated."""
    return Uncertain(
        Problem(
            code="objects.uncertain",
            what="it is unknown whether the object was created",
            where=shown,
            why=why,
            fix="check whether the object exists before you run it again",
        )
    )


def conflict(shown: str, why: str) -> Conflict:
    """Return the error for an object that already exists."""
    return Conflict(
        Problem(
            code="objects.conflict",
            what="the object already exists, or somebody else is writing it",
            where=shown,
            why=why,
            fix="check who created it; existing objects are not replaced",
        )
    )


def unexpected_answer(shown: str, why: str) -> Rejected:
    """Return the error for a reply with an unexpected format."""
    return Rejected(
        Problem(
            code="objects.answer",
            what="unexpected response: the server is not an S3 storage",
            where=shown,
            why=why,
            fix="check the endpoint; a proxy may have answered instead",
        )
    )


def content_mismatch(shown: str, why: str) -> Rejected:
    """Return the error for content that differs from what was stored."""
    return Rejected(
        Problem(
            code="objects.content",
            what="the stored content differs from what was uploaded",
            where=shown,
            why=why,
            fix="store it again; if it happens again, do not use this storage for backups",
        )
    )


def _not_found_problem(shown: str, why: str) -> Problem:
    return Problem(
        code="objects.not-found",
        what="the object, upload or bucket does not exist",
        where=shown,
        why=why,
        fix="check bucket and prefix; stockman does not create buckets",
    )


def _permission_problem(shown: str, why: str) -> Problem:
    return Problem(
        code="objects.denied",
        what="the S3 storage denies access",
        where=shown,
        why=why,
        fix="check access key, secret key and region, and the permissions of the key",
    )


def _clock_problem(shown: str, why: str) -> Problem:
    return Problem(
        code="objects.clock",
        what="the clocks of this machine and of the S3 storage differ",
        where=shown,
        why=f"{why}: they differ by more than 15 minutes",
        fix="correct both clocks; `stockman doctor` shows the offset of the local clock",
    )


def _busy_problem(shown: str, why: str) -> Problem:
    return Problem(
        code="objects.busy",
        what="the S3 storage limits the rate of requests",
        where=shown,
        why=why,
        fix="try again later",
    )


def _rejection_problem(shown: str, why: str) -> Problem:
    return Problem(
        code="objects.rejected",
        what="the S3 storage rejected the request",
        where=shown,
        why=why,
        fix="look up the code in the documentation of the storage; check region and path style",
    )
