"""Refusals of Kubernetes that say more than their problem does."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from stockman.kubernetes import problems
from stockman.kubernetes.transport import Reply, Request
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


@record
class OwnedField:
    """A field, and who set it."""

    field: str
    """`.spec.replicas`. Empty: the server does not tell."""
    manager: str


@record
class StatusCause:
    """One of several things that are wrong with an object."""

    field: str
    """`spec.replicas`. Empty: the whole."""
    message: str
    reason: str = ""
    """`FieldValueInvalid`."""


@record
class Permission:
    """What somebody wants to do."""

    verb: str
    resource: str
    """The plural, with a subresource where it is about one: `pods/eviction`."""
    group: str = ""
    namespace: str = ""
    """Empty: all of them, or none."""
    name: str = ""
    """Empty: all of them."""


class AlreadyExists(Conflict):
    """There is an object of this name."""


class FieldConflict(Conflict):
    """Others own fields that were to be set."""

    def __init__(self, problem: Problem, fields: tuple[OwnedField, ...]) -> None:
        super().__init__(problem)
        self.fields = fields

    @property
    def managers(self) -> tuple[str, ...]:
        """Who they are, each once."""
        return tuple(dict.fromkeys(one.manager for one in self.fields))


class Forbidden(Denied):
    """The rights of whoever asks do not reach."""

    def __init__(self, problem: Problem, right: Permission) -> None:
        super().__init__(problem)
        self.right = right
        """The one that is missing."""


class Invalid(Rejected):
    """Fields of an object are wrong."""

    def __init__(self, problem: Problem, causes: tuple[StatusCause, ...]) -> None:
        super().__init__(problem)
        self.causes = causes


class Expired(StockmanError):
    """The server no longer keeps what was asked for: it has to be listed anew."""


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


class DisruptionBudgetExceeded(StockmanError):
    """A disruption budget keeps a pod."""

    def __init__(self, problem: Problem, no: ErrorReply) -> None:
        super().__init__(problem)
        causes = [one.message for one in no.causes if one.reason == "DisruptionBudget"]
        self.why = causes[0] if causes else no.message
        found = _BUDGET.search(self.why)
        self.budget = found["name"] if found else ""
        self.retry_after = no.retry_after


@record
class ErrorReply:
    """A no, taken apart; texts are clean."""

    status: int
    message: str = ""
    reason: str = ""
    """`AlreadyExists`. Empty: not told, as when it does not come from the API server."""
    name: str = ""
    """Of the object that it is about. Empty: about none."""
    causes: tuple[StatusCause, ...] = ()
    retry_after: float | None = None


def reply_error(request: Request, reply: Reply) -> StockmanError:
    """The error that a refused call ends with."""
    return error_for(request, read_error_reply(request, reply))


def read_error_reply(request: Request, reply: Reply) -> ErrorReply:
    """A no, from an answer."""
    body = _parse_object(reply.body)
    if body is None or "message" not in body:
        words = clean_text(reply.body.decode("utf-8", "replace"), request.secrets)
        return ErrorReply(
            status=reply.status, message=words, retry_after=_retry_after(reply.headers, {})
        )
    return read_status(request, body, reply.headers, status=reply.status)


def read_status(
    request: Request,
    body: Mapping[str, object],
    headers: Mapping[str, str] | None = None,
    *,
    status: int | None = None,
) -> ErrorReply:
    """A no, from the object that says so."""
    details = body.get("details")
    about: Mapping[str, object] = details if isinstance(details, Mapping) else {}
    causes = about.get("causes")
    code = body.get("code")
    return ErrorReply(
        status=status if status is not None else code if isinstance(code, int) else 0,
        message=_clean_field(request, body.get("message")),
        reason=_clean_field(request, body.get("reason")),
        name=_clean_field(request, about.get("name")),
        causes=tuple(
            StatusCause(
                field=_clean_field(request, one.get("field")),
                message=_clean_field(request, one.get("message")),
                reason=_clean_field(request, one.get("reason")),
            )
            for one in (causes if isinstance(causes, list) else [])
            if isinstance(one, Mapping)
        ),
        retry_after=_retry_after(headers or {}, about),
    )


def error_for(request: Request, no: ErrorReply) -> StockmanError:
    """The error that a no stands for."""
    where, told = request.shown, no.message
    match no.status:
        case 401:
            return Denied(problems.authentication_problem(where, told))
        case 403:
            return _permission_error(request, no)
        case 404 if no.reason == "NotFound" and no.name:
            return NotFound(problems.not_found(where, told))
        case 404 | 405 | 501:
            return Unsupported(problems.unknown_kind(where, told))
        case 409:
            return _conflict_error(request, no)
        case 410:
            return Expired(problems.expiry(where, told))
        case 422:
            return Invalid(problems.invalid(where, told), no.causes)
        case 429 if any(one.reason == "DisruptionBudget" for one in no.causes):
            return DisruptionBudgetExceeded(problems.disruption_budget(where, told), no)
        case 429:
            return Busy(problems.too_many_requests(where, told), no.retry_after)
        case 503 if no.retry_after is not None:
            return Busy(problems.too_many_requests(where, told), no.retry_after)
        case 500 if request.is_read or _contains_any(told, _BEFORE_WRITING):
            return _server_error(request, told)
        case 500 | 502 | 503 | 504:
            return lost_reply(request, f"it answers {no.status}: {told}".rstrip(": "))
        case status if 400 <= status < 500:
            return Rejected(problems.bad_request(where, told))
    return unexpected_answer(request, f"it answers {no.status}: {told}".rstrip(": "))


def unexpected_answer(request: Request, why: str) -> Rejected:
    """The error of an answer that is not one."""
    return Rejected(problems.unexpected_answer(request.shown, clean_text(why, request.secrets)))


def lost_reply(request: Request, why: str) -> StockmanError:
    """The error of a call whose answer did not come: a read failed, a change may have been made."""
    if request.is_read:
        return Unreachable(problems.no_reply(request.shown, why))
    return Uncertain(problems.unknown_outcome(request.shown, why))


def clean_text(text: str, secrets: tuple[str, ...] = ()) -> str:
    """A text of the server, fit for a terminal and without secrets."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, MASK)
    found = _CONTROL.sub(" ", text).strip()
    return found if len(found) <= _LONGEST else f"{found[:_LONGEST]}..."


def _clean_field(request: Request, found: object) -> str:
    return clean_text(found, request.secrets) if isinstance(found, str) else ""


def _permission_error(request: Request, no: ErrorReply) -> Denied:
    found = _CANNOT.search(no.message)
    if found is not None:
        right = Permission(
            verb=found["verb"],
            resource=found["resource"],
            group=found["group"],
            namespace=found["namespace"] or "",
            name=no.name,
        )
        what = f"to {right.verb} {right.resource}"
        return Forbidden(problems.forbidden(request.shown, no.message, what), right)
    found = _CANNOT_PATH.search(no.message)
    if found is not None:
        right = Permission(verb=found["verb"], resource=found["path"])
        what = f"to {right.verb} {right.resource}"
        return Forbidden(problems.forbidden(request.shown, no.message, what), right)
    return Denied(problems.forbidden(request.shown, no.message))


def _conflict_error(request: Request, no: ErrorReply) -> Conflict:
    where, told = request.shown, no.message
    if no.reason == "AlreadyExists":
        return AlreadyExists(problems.already_exists(where, told))
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


def _server_error(request: Request, told: str) -> StockmanError:
    if request.is_read and ("etcdserver:" in told or "deadline exceeded" in told):
        return lost_reply(request, told)
    return Rejected(problems.server_failure(request.shown, told))


def _contains_any(told: str, signs: tuple[str, ...]) -> bool:
    return any(sign in told for sign in signs)


def _retry_after(headers: Mapping[str, str], details: Mapping[str, object]) -> float | None:
    header = headers.get("retry-after", "")
    if header.isdecimal():
        return float(header)
    found = details.get("retryAfterSeconds")
    return float(found) if isinstance(found, int) and not isinstance(found, bool) else None


def _parse_object(body: bytes) -> Mapping[str, object] | None:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
