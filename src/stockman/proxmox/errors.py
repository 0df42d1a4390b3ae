"""What a no of Proxmox VE means: from the status line and the body to one of our errors."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field

from stockman.model.errors import (
    Conflict,
    Denied,
    Locked,
    NotFound,
    Rejected,
    StockmanError,
    Uncertain,
    Unreachable,
)
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.model.secret import MASK
from stockman.proxmox.transport import Request

_LONGEST = 600
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_PRIVILEGE = re.compile(r"Permission check failed \((?P<path>/[^,)]*), (?P<privileges>[^)]+)\)")
_HOST_UNREACHABLE = 595
_PROXY_ERRORS = range(595, 600)

_LOCKED = (
    "is locked (",
    "can't lock file",
    "got lock request timeout",
    "got lock timeout",
    "unable to acquire lock",
)
_CHANGED = ("checksum mismatch (file change", "detected modified configuration")
_QUORUM = ("no quorum",)
_TAKEN = (
    "already exists",
    "already defined",
    "already used",
    "already a pool member",
    "refusing to override existing file",
)
_STATE = ("already running", "is running - destroy failed", "not running")
_AGENT = ("guest agent is not running", "No QEMU guest agent configured", "guest-ping")
_MISSING = (
    "does not exist",
    "no such ",
    "not HA managed",
    "No such ",
    "hostname lookup",
    "unable to find configuration file",
)


@record
class Requester:
    """Who made a call that was refused."""

    name: str
    """`token user@realm!name`, or `user user@realm`."""
    given: str = ""
    """Where its secret was found. Empty: not told."""
    otherwise: str = ""
    """What else its owner can do, as a further clause of the fix. Empty: nothing."""


UNKNOWN_REQUESTER = Requester(name="")


@record
class ErrorReply:
    """A no, as it came."""

    status: int
    reason: str = ""
    """Text of the status line."""
    message: str = ""
    """Text of the body. Empty: before Proxmox VE 8.4 there is none."""
    errors: Mapping[str, str] = field(default_factory=dict)
    """What is wrong with single parameters."""
    asker: Requester = UNKNOWN_REQUESTER
    """Who was refused. `NOBODY`: whoever reads this knows."""
    at: str = ""
    """The endpoint that answered. Empty: whoever reads this knows."""


def reply_error(request: Request, no: ErrorReply) -> StockmanError:
    """The error that a refused call ends with."""
    told = _reply_text(request, no)
    match no.status:
        case 401:
            return Denied(_authentication_problem(request, no, told))
        case 403:
            return Denied(_permission_problem(request, no, told))
        case 501:
            return Rejected(_unsupported_problem(request, told))
        case status if status in _PROXY_ERRORS:
            return _host_error(request, status, told)
        case 400 | 500:
            return error_from_text(told, where=request.shown, parameters=no.status == 400)
    return Rejected(_answer_problem(request, f"it answers {no.status} {told}".rstrip()))


def error_from_text(told: str, *, where: str, parameters: bool = False) -> StockmanError:
    """The error that the words of Proxmox VE stand for, in an answer or at the end of a task."""
    if _contains_any(told, _QUORUM):
        return Unreachable(_quorum_problem(where, told))
    if _contains_any(told, _AGENT) or ("/agent/" in where and "not running" in told):
        return Unreachable(_agent_problem(where, told))
    if _contains_any(told, _LOCKED):
        return Locked(_lock_problem(where, told))
    if _contains_any(told, _CHANGED):
        return Conflict(_digest_problem(where, told))
    if _contains_any(told, _TAKEN):
        return Conflict(_exists_problem(where, told))
    if _contains_any(told, _STATE):
        return Conflict(_state_problem(where, told))
    if _contains_any(told, _MISSING) and "bootorder" not in told:
        return NotFound(_not_found_problem(where, told))
    return Rejected(
        _parameter_problem(where, told) if parameters else _rejection_problem(where, told)
    )


def unexpected_answer(request: Request, why: str) -> Rejected:
    """The error of an answer that is not one."""
    return Rejected(_answer_problem(request, why))


def unknown_outcome(request: Request, why: str) -> Uncertain:
    """The error of a change of which nobody knows whether it was made."""
    return Uncertain(
        Problem(
            code="proxmox.unknown-outcome",
            what="nobody knows whether Proxmox VE did what it was asked to do",
            where=request.shown,
            why=why,
            fix="look at the task list of the host before doing it again",
        )
    )


def clean_text(text: str, secrets: tuple[str, ...] = ()) -> str:
    """A text of the server, fit for a terminal and without secrets."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, MASK)
    found = _CONTROL.sub(" ", text).strip()
    return found if len(found) <= _LONGEST else f"{found[:_LONGEST]}..."


def _reply_text(request: Request, no: ErrorReply) -> str:
    details = "; ".join(f"{name}: {text.strip()}" for name, text in no.errors.items())
    said = no.message.strip() or no.reason.strip()
    joined = f"{said.removesuffix('.')}: {details}" if details else said
    return clean_text(joined, request.secrets)


def _contains_any(told: str, signs: tuple[str, ...]) -> bool:
    return any(sign in told for sign in signs)


def _host_error(request: Request, status: int, told: str) -> StockmanError:
    why = f"the host that answered says {status} {told}".rstrip()
    if status != _HOST_UNREACHABLE and not request.is_read:
        return unknown_outcome(request, why)
    return Unreachable(
        Problem(
            code="proxmox.host-down",
            what=f"the Proxmox host {_request_host(request)} cannot be reached by the others",
            where=request.shown,
            why=why,
            fix="look whether the host is up and in the cluster: `pvecm status`",
        )
    )


def _request_host(request: Request) -> str:
    named = request.segments[:1] == ("nodes",) and len(request.segments) > 1
    return request.segments[1] if named else "asked for"


def _authentication_problem(request: Request, no: ErrorReply, told: str) -> Problem:
    who = no.asker.name
    ended = "expired" in told
    unknown = f"Proxmox VE does not let in {who}" if who else "Proxmox VE does not know who asks"
    return Problem(
        code="proxmox.authentication",
        what=f"the {who or 'token'} has expired" if ended else unknown,
        where=_location(request, no),
        why=f"it answers 401 {told}".rstrip(),
        fix=_authentication_fix(no.asker, ended=ended),
    )


def _authentication_fix(asker: Requester, *, ended: bool) -> str:
    if ended:
        return "give it a later end, or make another, under Datacenter, Permissions"
    if not asker.name:
        return "check token_id and token_secret, and that neither user nor token has expired"
    given = f", given by {asker.given}," if asker.given else ""
    kind = "password" if asker.name.startswith("user ") else "secret"
    return (
        f"check its {kind}{given} and under Datacenter, Permissions that it is there, is enabled"
        f" and has not expired{f'; {asker.otherwise}' if asker.otherwise else ''}"
    )


def _permission_problem(request: Request, no: ErrorReply, told: str) -> Problem:
    found = _PRIVILEGE.search(told)
    who = no.asker.name or "token"
    if found is None:
        return Problem(
            code="proxmox.denied",
            what="Proxmox VE does not allow this call",
            where=_location(request, no),
            why=told or "it answers 403 without a reason",
            fix=f"give the {who} a role that allows it, or use a user that may",
        )
    path, privileges = found["path"], found["privileges"].replace("|", " or ")
    users = ", and its user," if who.startswith("token") else ""
    return Problem(
        code="proxmox.denied",
        what=f"the {who} lacks {privileges} on {path}",
        where=_location(request, no),
        why=told,
        fix=f"give the {who}{users} a role with {privileges} on {path}",
    )


def _location(request: Request, no: ErrorReply) -> str:
    return f"{request.shown} at {no.at}" if no.at else request.shown


def _unsupported_problem(request: Request, told: str) -> Problem:
    return Problem(
        code="proxmox.no-such-call",
        what="this version of Proxmox VE does not have a call that is needed",
        where=request.shown,
        why=told or "it answers 501",
        fix="compare its version with those that `stockman versions` lists",
    )


def _quorum_problem(where: str, told: str) -> Problem:
    return Problem(
        code="proxmox.no-quorum",
        what="the Proxmox cluster has no quorum, so nothing can be changed",
        where=where,
        why=told,
        fix="bring back enough hosts that more than half are up: `pvecm status` tells",
    )


def _agent_problem(where: str, told: str) -> Problem:
    return Problem(
        code="proxmox.agent",
        what="no agent answers inside of the VM",
        where=where,
        why=told,
        fix="wait until it has started; Talos needs the extension qemu-guest-agent",
    )


def _lock_problem(where: str, told: str) -> Problem:
    return Problem(
        code="proxmox.locked",
        what="somebody else works on it right now",
        where=where,
        why=told,
        fix="wait for the task that holds it; the task list of the host names it",
    )


def _digest_problem(where: str, told: str) -> Problem:
    return Problem(
        code="proxmox.changed",
        what="the configuration was changed by somebody else since it was read",
        where=where,
        why=told,
        fix="run it again: what is there now is then read first",
    )


def _exists_problem(where: str, told: str) -> Problem:
    return Problem(
        code="proxmox.exists",
        what="Proxmox VE has such a thing already",
        where=where,
        why=told,
        fix="choose another number or name, or look who made it",
    )


def _state_problem(where: str, told: str) -> Problem:
    return Problem(
        code="proxmox.state",
        what="the guest is not in the state that this needs",
        where=where,
        why=told,
        fix="look at its state again, and then do what is still to be done",
    )


def _not_found_problem(where: str, told: str) -> Problem:
    return Problem(
        code="proxmox.not-found",
        what="Proxmox VE does not have what is named here",
        where=where,
        why=told,
        fix="check the name; what was deleted by hand has to be planned anew",
    )


def _parameter_problem(where: str, told: str) -> Problem:
    return Problem(
        code="proxmox.parameters",
        what="Proxmox VE does not take these values",
        where=where,
        why=told,
        fix="change the values that it names",
    )


def _rejection_problem(where: str, told: str) -> Problem:
    return Problem(
        code="proxmox.refused",
        what="Proxmox VE refuses",
        where=where,
        why=told or "it gives no reason",
        fix="put right what it names, or see the log of the host: `journalctl -u pvedaemon`",
    )


def _answer_problem(request: Request, why: str) -> Problem:
    return Problem(
        code="proxmox.answer",
        what="what answers is not, or not yet, the API of Proxmox VE as we know it",
        where=request.shown,
        why=why,
        fix="check the endpoint; a proxy in between may have answered instead",
    )
