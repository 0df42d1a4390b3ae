"""Errors of the Kubernetes API, and their translation from error replies."""

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
from stockman.model.secret import clean_text


@record
class OwnedField:
    """A field and its field manager."""

    field: str
    """`.spec.replicas`. Empty: unknown."""
    manager: str


@record
class StatusCause:
    """One of the causes in an error reply."""

    field: str
    """`spec.replicas`. Empty: the whole object."""
    message: str
    reason: str = ""
    """`FieldValueInvalid`."""


@record
class Permission:
    """A verb on a resource."""

    verb: str
    resource: str
    """The plural name, with the subresource if there is one: `pods/eviction`."""
    group: str = ""
    namespace: str = ""
    """Empty: all namespaces, or a cluster-scoped resource."""
    name: str = ""
    """Empty: all of them."""


class AlreadyExists(Conflict):
    """An object with this name already exists."""


class FieldConflict(Conflict):
    """Fields to be applied are owned by other field managers."""

    def __init__(self, problem: Problem, fields: tuple[OwnedField, ...]) -> None:
        super().__init__(problem)
        self.fields = fields

    @property
    def managers(self) -> tuple[str, ...]:
        """The names of the other field managers, without duplicates."""
        return tuple(dict.fromkeys(field.manager for field in self.fields))


class Forbidden(Denied):
    """The user lacks a permission."""

    def __init__(self, problem: Problem, permission: Permission) -> None:
        super().__init__(problem)
        self.permission = permission
        """The missing permission."""


class Invalid(Rejected):
    """An object has invalid fields."""

    def __init__(self, problem: Problem, causes: tuple[StatusCause, ...]) -> None:
        super().__init__(problem)
        self.causes = causes


class Expired(StockmanError):
    """The resource version is no longer available: objects must be listed again."""


_CANNOT = re.compile(
    r'cannot (?P<verb>\S+) resource "(?P<resource>[^"]+)" in API group "(?P<group>[^"]*)"'
    r'(?: in the namespace "(?P<namespace>[^"]*)")?'
)
_CANNOT_PATH = re.compile(r'cannot (?P<verb>\S+) path "(?P<path>[^"]+)"')
_MANAGER = re.compile(r'conflict with "(?P<manager>(?:[^"\\]|\\.)*)"')
_BUDGET = re.compile(r"[Tt]he disruption budget (?P<name>\S+) ")
_BEFORE_WRITING = ("webhook", "more than one PodDisruptionBudget", "admission plugin")
"""Messages of a server that failed before it changed anything."""


class DisruptionBudgetExceeded(StockmanError):
    """A PodDisruptionBudget prevents an eviction."""

    def __init__(self, problem: Problem, reply: ErrorReply) -> None:
        super().__init__(problem)
        causes = [cause.message for cause in reply.causes if cause.reason == "DisruptionBudget"]
        self.why = causes[0] if causes else reply.message
        match = _BUDGET.search(self.why)
        self.budget = match["name"] if match else ""
        self.retry_after = reply.retry_after


@record
class ErrorReply:
    """A parsed error reply; its texts contain no secrets and control characters."""

    status: int
    message: str = ""
    reason: str = ""
    """`AlreadyExists`. Empty: unknown, for example if a proxy answered."""
    name: str = ""
    """Name of the object. Empty: none."""
    causes: tuple[StatusCause, ...] = ()
    retry_after: float | None = None


def reply_error(request: Request, reply: Reply) -> StockmanError:
    """Return the error for an error reply."""
    return error_for(request, read_error_reply(request, reply))


def read_error_reply(request: Request, reply: Reply) -> ErrorReply:
    """Parse an error reply."""
    body = _parse_object(reply.body)
    if body is None or "message" not in body:
        message = clean_text(reply.body.decode("utf-8", "replace"), request.secrets)
        return ErrorReply(
            status=reply.status, message=message, retry_after=_retry_after(reply.headers, {})
        )
    return read_status(request, body, reply.headers, status=reply.status)


def read_status(
    request: Request,
    body: Mapping[str, object],
    headers: Mapping[str, str] | None = None,
    *,
    status: int | None = None,
) -> ErrorReply:
    """Parse a `Status` object."""
    details = body.get("details")
    fields: Mapping[str, object] = details if isinstance(details, Mapping) else {}
    causes = fields.get("causes")
    code = body.get("code")
    return ErrorReply(
        status=status if status is not None else code if isinstance(code, int) else 0,
        message=_clean_field(request, body.get("message")),
        reason=_clean_field(request, body.get("reason")),
        name=_clean_field(request, fields.get("name")),
        causes=tuple(
            StatusCause(
                field=_clean_field(request, cause.get("field")),
                message=_clean_field(request, cause.get("message")),
                reason=_clean_field(request, cause.get("reason")),
            )
            for cause in (causes if isinstance(causes, list) else [])
            if isinstance(cause, Mapping)
        ),
        retry_after=_retry_after(headers or {}, fields),
    )


def error_for(request: Request, reply: ErrorReply) -> StockmanError:
    """Return the error for a parsed error reply."""
    where, message = request.shown, reply.message
    match reply.status:
        case 401:
            return Denied(problems.authentication_problem(where, message))
        case 403:
            return _permission_error(request, reply)
        case 404 if reply.reason == "NotFound" and reply.name:
            return NotFound(problems.not_found(where, message))
        case 404 | 405 | 501:
            return Unsupported(problems.unknown_kind(where, message))
        case 409:
            return _conflict_error(request, reply)
        case 410:
            return Expired(problems.expiry(where, message))
        case 422:
            return Invalid(problems.invalid(where, message), reply.causes)
        case 429 if any(cause.reason == "DisruptionBudget" for cause in reply.causes):
            return DisruptionBudgetExceeded(problems.disruption_budget(where, message), reply)
        case 429:
            return Busy(problems.too_many_requests(where, message), reply.retry_after)
        case 503 if reply.retry_after is not None:
            return Busy(problems.too_many_requests(where, message), reply.retry_after)
        case 500 if request.is_read or _contains_any(message, _BEFORE_WRITING):
            return _server_error(request, message)
        case 500 | 502 | 503 | 504:
            return lost_reply(request, f"it replies {reply.status}: {message}".rstrip(": "))
        case status if 400 <= status < 500:
            return Rejected(problems.bad_request(where, message))
    return unexpected_answer(request, f"it replies {reply.status}: {message}".rstrip(": "))


def unexpected_answer(request: Request, why: str) -> Rejected:
    """Return the error for a reply with an unexpected format."""
    return Rejected(problems.unexpected_answer(request.shown, clean_text(why, request.secrets)))


def lost_reply(request: Request, why: str) -> StockmanError:
    """Return the error for a missing reply: a read failed, or a change has an unknown outcome."""
    if request.is_read:
        return Unreachable(problems.no_reply(request.shown, why))
    return Uncertain(problems.unknown_outcome(request.shown, why))


def _clean_field(request: Request, value: object) -> str:
    return clean_text(value, request.secrets) if isinstance(value, str) else ""


def _permission_error(request: Request, reply: ErrorReply) -> Denied:
    match = _CANNOT.search(reply.message)
    if match is not None:
        permission = Permission(
            verb=match["verb"],
            resource=match["resource"],
            group=match["group"],
            namespace=match["namespace"] or "",
            name=reply.name,
        )
        what = f"to {permission.verb} {permission.resource}"
        return Forbidden(problems.forbidden(request.shown, reply.message, what), permission)
    match = _CANNOT_PATH.search(reply.message)
    if match is not None:
        permission = Permission(verb=match["verb"], resource=match["path"])
        what = f"to {permission.verb} {permission.resource}"
        return Forbidden(problems.forbidden(request.shown, reply.message, what), permission)
    return Denied(problems.forbidden(request.shown, reply.message))


def _conflict_error(request: Request, reply: ErrorReply) -> Conflict:
    where, message = request.shown, reply.message
    if reply.reason == "AlreadyExists":
        return AlreadyExists(problems.already_exists(where, message))
    owned = tuple(
        OwnedField(field=item.field, manager=_manager(item.message))
        for item in reply.causes
        if item.reason == "FieldManagerConflict"
    )
    if owned:
        managers = ", ".join(dict.fromkeys(item.manager for item in owned))
        return FieldConflict(problems.field_conflict(where, message, managers), owned)
    return Conflict(problems.conflict(where, message))


def _manager(message: str) -> str:
    match = _MANAGER.search(message)
    return match["manager"].replace('\\"', '"') if match else message


def _server_error(request: Request, message: str) -> StockmanError:
    if request.is_read and ("etcdserver:" in message or "deadline exceeded" in message):
        return lost_reply(request, message)
    return Rejected(problems.server_failure(request.shown, message))


def _contains_any(text: str, signs: tuple[str, ...]) -> bool:
    return any(sign in text for sign in signs)


def _retry_after(headers: Mapping[str, str], details: Mapping[str, object]) -> float | None:
    header = headers.get("retry-after", "")
    if header.isdecimal():
        return float(header)
    seconds = details.get("retryAfterSeconds")
    return float(seconds) if isinstance(seconds, int) and not isinstance(seconds, bool) else None


def _parse_object(body: bytes) -> Mapping[str, object] | None:
    try:
        parsed = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return parsed if isinstance(parsed, dict) else None
