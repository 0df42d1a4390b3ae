"""What a storage's no means, in our words."""

from __future__ import annotations

import re
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
from stockman.model.problem import Problem

_CODE = re.compile(r"<Code>([A-Za-z0-9]{1,64})</Code>")
_CLOCK = "RequestTimeTooSkewed"
_TOO_MUCH = frozenset({"SlowDown", "TooManyRequests", "ServiceUnavailable"})


def reply_error(shown: str, status: int, told: str, *, once: bool = False) -> StockmanError:
    """The error that a no stands for; of what the storage says only its code is repeated.

    `once`: it was asked for something that must not be done twice.
    """
    found = _CODE.search(told)
    code = found[1] if found else ""
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
        case _ if code in _TOO_MUCH:
            return Busy(_busy_problem(shown, why))
        case _ if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            return unreachable(shown, why)
    return Rejected(_rejection_problem(shown, why))


def status_text(status: int, code: str) -> str:
    """A status and the code of S3 as a clause."""
    return f"it answers {status} {code}".rstrip()


def lost_reply(shown: str, why: str, *, once: bool) -> StockmanError:
    """The answer did not come."""
    return uncertain(shown, why) if once else unreachable(shown, why)


def unreachable(shown: str, why: str) -> Unreachable:
    """Nobody answered, or only that it cannot."""
    return Unreachable(
        Problem(
            code="objects.unreachable",
            what="object storage gives no answer",
            where=shown,
            why=why,
            fix="try again later; check endpoint, network and whether the storage is up",
        )
    )


def uncertain(shown: str, why: str) -> Uncertain:
    """The answer to something that must not be done twice was lost."""
    return Uncertain(
        Problem(
            code="objects.uncertain",
            what="nobody knows whether the object was created",
            where=shown,
            why=why,
            fix="look what is there before doing it again",
        )
    )


def conflict(shown: str, why: str) -> Conflict:
    """There is something already."""
    return Conflict(
        Problem(
            code="objects.conflict",
            what="there is such an object already, or somebody else is writing it",
            where=shown,
            why=why,
            fix="look whose it is; what was created once is not replaced",
        )
    )


def unexpected_answer(shown: str, why: str) -> Rejected:
    """An answer that is not one."""
    return Rejected(
        Problem(
            code="objects.answer",
            what="what answers is no S3 storage as we know them",
            where=shown,
            why=why,
            fix="check the endpoint; a proxy in between may have answered instead",
        )
    )


def content_mismatch(shown: str, why: str) -> Rejected:
    """Bytes that are not those that were stored."""
    return Rejected(
        Problem(
            code="objects.content",
            what="what is stored is not what it should be",
            where=shown,
            why=why,
            fix="store it again; if it stays so, do not trust this storage with backups",
        )
    )


def _not_found_problem(shown: str, why: str) -> Problem:
    return Problem(
        code="objects.not-found",
        what="there is no such object, upload or bucket",
        where=shown,
        why=why,
        fix="check bucket and prefix; stockman makes no buckets",
    )


def _permission_problem(shown: str, why: str) -> Problem:
    return Problem(
        code="objects.denied",
        what="object storage does not let us do this",
        where=shown,
        why=why,
        fix="check access key, secret key and region, and what the key may do with the bucket",
    )


def _clock_problem(shown: str, why: str) -> Problem:
    return Problem(
        code="objects.clock",
        what="object storage goes by another time than this machine",
        where=shown,
        why=f"{why}: more than 15 minutes lie between them",
        fix="set the clocks of both right; `stockman doctor` shows how wrong this one is",
    )


def _busy_problem(shown: str, why: str) -> Problem:
    return Problem(
        code="objects.busy",
        what="object storage wants fewer requests",
        where=shown,
        why=why,
        fix="try again later",
    )


def _rejection_problem(shown: str, why: str) -> Problem:
    return Problem(
        code="objects.rejected",
        what="object storage refuses what it was asked for",
        where=shown,
        why=why,
        fix="look up the code in the manual of the storage; region and path style are often wrong",
    )
