"""What a no of Kubernetes means: from status and words of an answer to one of our errors."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from stockman.kubernetes import problems
from stockman.kubernetes.wire import Reply, Request
from stockman.model.errors import (
    Busy,
    Conflict,
    Denied,
    NotFound,
    Rejected,
    StockmanError,
    Uncertain,
    Unreachable,
    Unsupported,
)
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.model.secret import MASK
from stockman.ports.kubernetes.errors import (
    AlreadyThere,
    Cause,
    Expired,
    FieldConflict,
    Invalid,
    NotAllowed,
    OwnedField,
    Right,
)

_LONGEST = 600
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_CANNOT = re.compile(
    r'cannot (?P<verb>\S+) resource "(?P<resource>[^"]+)" in API group "(?P<group>[^"]*)"'
    r'(?: in the namespace "(?P<namespace>[^"]*)")?'
)
_CANNOT_PATH = re.compile(r'cannot (?P<verb>\S+) path "(?P<path>[^"]+)"')
_MANAGER = re.compile(r'conflict with "(?P<manager>(?:[^"\\]|\\.)*)"')
_BUDGET = re.compile(r"[Tt]he disruption budget (?P<name>\S+) ")
_BEFORE_WRITING = ("webhook", "more than one PodDisruptionBudget", "admission plugin")
"""Words of a server that failed before it changed anything."""


class BudgetBlocks(StockmanError):
    """A disruption budget keeps a pod."""

    def __init__(self, problem: Problem, no: Refusal) -> None:
        super().__init__(problem)
        causes = [one.message for one in no.causes if one.reason == "DisruptionBudget"]
        self.why = causes[0] if causes else no.message
        found = _BUDGET.search(self.why)
        self.budget = found["name"] if found else ""
        self.retry_after = no.retry_after


@record
class Refusal:
    """A no, taken apart; texts are clean."""

    status: int
    message: str = ""
    reason: str = ""
    """`AlreadyExists`. Empty: not told, as when it does not come from the API server."""
    name: str = ""
    """Of the object that it is about. Empty: about none."""
    causes: tuple[Cause, ...] = ()
    retry_after: float | None = None


def refusal(request: Request, reply: Reply) -> StockmanError:
    """The error that a refused call ends with."""
    return meaning(request, read_refusal(request, reply))


def read_refusal(request: Request, reply: Reply) -> Refusal:
    """A no, from an answer."""
    body = _object(reply.body)
    if body is None or "message" not in body:
        words = clean(reply.body.decode("utf-8", "replace"), request.secrets)
        return Refusal(status=reply.status, message=words, retry_after=_seconds(reply.headers, {}))
    return status_refusal(request, body, reply.headers, status=reply.status)


def status_refusal(
    request: Request,
    body: Mapping[str, object],
    headers: Mapping[str, str] | None = None,
    *,
    status: int | None = None,
) -> Refusal:
    """A no, from the object that says so."""
    details = body.get("details")
    about: Mapping[str, object] = details if isinstance(details, Mapping) else {}
    causes = about.get("causes")
    code = body.get("code")
    return Refusal(
        status=status if status is not None else code if isinstance(code, int) else 0,
        message=_clean(request, body.get("message")),
        reason=_clean(request, body.get("reason")),
        name=_clean(request, about.get("name")),
        causes=tuple(
            Cause(
                field=_clean(request, one.get("field")),
                message=_clean(request, one.get("message")),
                reason=_clean(request, one.get("reason")),
            )
            for one in (causes if isinstance(causes, list) else [])
            if isinstance(one, Mapping)
        ),
        retry_after=_seconds(headers or {}, about),
    )


def meaning(request: Request, no: Refusal) -> StockmanError:
    """The error that a no stands for."""
    where, told = request.shown, no.message
    match no.status:
        case 401:
            return Denied(problems.not_let_in(where, told))
        case 403:
            return _denied(request, no)
        case 404 if no.reason == "NotFound" and no.name:
            return NotFound(problems.missing(where, told))
        case 404 | 405 | 501:
            return Unsupported(problems.no_such_kind(where, told))
        case 409:
            return _conflict(request, no)
        case 410:
            return Expired(problems.expired(where, told))
        case 422:
            return Invalid(problems.invalid(where, told), no.causes)
        case 429 if any(one.reason == "DisruptionBudget" for one in no.causes):
            return BudgetBlocks(problems.blocked(where, told), no)
        case 429:
            return Busy(problems.busy(where, told), no.retry_after)
        case 503 if no.retry_after is not None:
            return Busy(problems.busy(where, told), no.retry_after)
        case 500 if request.is_read or _has(told, _BEFORE_WRITING):
            return _failed(request, told)
        case 500 | 502 | 503 | 504:
            return lost(request, f"it answers {no.status}: {told}".rstrip(": "))
        case status if 400 <= status < 500:
            return Rejected(problems.rejected(where, told))
    return odd_answer(request, f"it answers {no.status}: {told}".rstrip(": "))


def odd_answer(request: Request, why: str) -> Rejected:
    """The error of an answer that is not one."""
    return Rejected(problems.odd(request.shown, clean(why, request.secrets)))


def lost(request: Request, why: str) -> StockmanError:
    """The error of a call whose answer did not come: a read failed, a change may have been made."""
    if request.is_read:
        return Unreachable(problems.silent(request.shown, why))
    return Uncertain(problems.unknown_outcome(request.shown, why))


def clean(text: str, secrets: tuple[str, ...] = ()) -> str:
    """A text of the server, fit for a terminal and without secrets."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, MASK)
    found = _CONTROL.sub(" ", text).strip()
    return found if len(found) <= _LONGEST else f"{found[:_LONGEST]}..."


def _clean(request: Request, found: object) -> str:
    return clean(found, request.secrets) if isinstance(found, str) else ""


def _denied(request: Request, no: Refusal) -> Denied:
    found = _CANNOT.search(no.message)
    if found is not None:
        right = Right(
            verb=found["verb"],
            resource=found["resource"],
            group=found["group"],
            namespace=found["namespace"] or "",
            name=no.name,
        )
        what = f"to {right.verb} {right.resource}"
        return NotAllowed(problems.denied(request.shown, no.message, what), right)
    found = _CANNOT_PATH.search(no.message)
    if found is not None:
        right = Right(verb=found["verb"], resource=found["path"])
        what = f"to {right.verb} {right.resource}"
        return NotAllowed(problems.denied(request.shown, no.message, what), right)
    return Denied(problems.denied(request.shown, no.message))


def _conflict(request: Request, no: Refusal) -> Conflict:
    where, told = request.shown, no.message
    if no.reason == "AlreadyExists":
        return AlreadyThere(problems.exists(where, told))
    owned = tuple(
        OwnedField(field=one.field, manager=_manager(one.message))
        for one in no.causes
        if one.reason == "FieldManagerConflict"
    )
    if owned:
        managers = ", ".join(dict.fromkeys(one.manager for one in owned))
        return FieldConflict(problems.field_conflict(where, told, managers), owned)
    return Conflict(problems.conflict(where, told))


def _manager(message: str) -> str:
    found = _MANAGER.search(message)
    return found["manager"].replace('\\"', '"') if found else message


def _failed(request: Request, told: str) -> StockmanError:
    if request.is_read and ("etcdserver:" in told or "deadline exceeded" in told):
        return lost(request, told)
    return Rejected(problems.refused(request.shown, told))


def _has(told: str, signs: tuple[str, ...]) -> bool:
    return any(sign in told for sign in signs)


def _seconds(headers: Mapping[str, str], details: Mapping[str, object]) -> float | None:
    header = headers.get("retry-after", "")
    if header.isdecimal():
        return float(header)
    found = details.get("retryAfterSeconds")
    return float(found) if isinstance(found, int) and not isinstance(found, bool) else None


def _object(body: bytes) -> Mapping[str, object] | None:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
