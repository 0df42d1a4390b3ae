"""Translate error replies and task results of Proxmox VE to errors of stockman."""

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
from stockman.model.secret import clean_text
from stockman.proxmox.transport import Request

AUTHENTICATION = "proxmox.authentication"
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
    "unable to find configuration file",
)
_MISSING_FILE = "No such file or directory"
"""The reason of a failed system call on a host; it does not mean that the named object is gone."""
_UNKNOWN_HOST = "hostname lookup"
_TEMPORARY = (
    "got no worker upid",
    "got timeout",
    "qmp socket - timeout",
    "ipcc_send_rec",
)
"""A busy host: a worker was killed before it started, QEMU or pmxcfs did not answer in time."""
_FINAL_TIMEOUTS = ("VM quit/powerdown failed",)
"""The guest did not react within the timeout of the request."""


@record
class Requester:
    """Who sent a request, for error messages."""

    name: str
    """`token user@realm!name`, or `user user@realm`."""
    source: str = ""
    """Where the secret was found. Empty: unknown."""
    hint: str = ""
    """A further instruction for the fix of the problem. Empty: none."""


UNKNOWN_REQUESTER = Requester(name="")


@record
class ErrorReply:
    """An error reply."""

    status: int
    reason: str = ""
    """The reason phrase of the status line."""
    message: str = ""
    """The message in the body. Empty before Proxmox VE 8.4."""
    errors: Mapping[str, str] = field(default_factory=dict)
    """Error messages by parameter."""
    requester: Requester = UNKNOWN_REQUESTER
    """Who was refused. `NOBODY`: whoever reads this knows."""
    endpoint: str = ""
    """The endpoint that answered. Empty: not shown."""


def reply_error(request: Request, reply: ErrorReply) -> StockmanError:
    """Return the error for an error reply."""
    message = _reply_text(request, reply)
    match reply.status:
        case 401:
            return Denied(_authentication_problem(request, reply, message))
        case 403:
            return Denied(_permission_problem(request, reply, message))
        case 501:
            return Rejected(_unsupported_problem(request, message))
        case status if status in _PROXY_ERRORS:
            return _host_error(request, status, message)
        case 400 | 500:
            error = error_from_text(message, where=request.shown, parameters=reply.status == 400)
            is_failed_read = request.is_read and isinstance(error, Uncertain)
            return Unreachable(error.problem) if is_failed_read else error
    return Rejected(_answer_problem(request, f"it replies {reply.status} {message}".rstrip()))


def error_from_text(message: str, *, where: str, parameters: bool = False) -> StockmanError:
    """Return the error for a message of Proxmox VE, from a reply or a task result."""
    if _contains_any(message, _QUORUM):
        return Unreachable(_quorum_problem(where, message))
    if _contains_any(message, _AGENT) or ("/agent/" in where and "not running" in message):
        return Unreachable(_agent_problem(where, message))
    if _contains_any(message, _LOCKED):
        return Locked(_lock_problem(where, message))
    if _contains_any(message, _CHANGED):
        return Conflict(_digest_problem(where, message))
    if _contains_any(message, _TAKEN):
        return Conflict(_exists_problem(where, message))
    if _UNKNOWN_HOST in message:
        return Unreachable(_host_lookup_problem(where, message))
    if is_temporary(message):
        return Uncertain(_temporary_problem(where, message))
    if _contains_any(message, _STATE):
        return Conflict(_state_problem(where, message))
    if _MISSING_FILE in message:
        return Rejected(_missing_file_problem(where, message))
    if _contains_any(message, _MISSING) and "bootorder" not in message:
        return NotFound(_not_found_problem(where, message))
    return Rejected(
        _parameter_problem(where, message) if parameters else _rejection_problem(where, message)
    )


def is_temporary(message: str) -> bool:
    """Return whether a message means that the same request may succeed a little later."""
    return _contains_any(message, _TEMPORARY) and not _contains_any(message, _FINAL_TIMEOUTS)


def unexpected_answer(request: Request, why: str) -> Rejected:
    """Return the error for a reply with an unexpected format."""
    return Rejected(_answer_problem(request, why))


def unknown_outcome(request: Request, why: str) -> Uncertain:
    """Return the error for a change whose outcome is unknown."""
    return Uncertain(
        Problem(
            code="proxmox.unknown-outcome",
            what="it is unknown whether Proxmox VE made the change",
            where=request.shown,
            why=why,
            fix="check the task list of the host before you run it again",
        )
    )


def _reply_text(request: Request, reply: ErrorReply) -> str:
    details = "; ".join(f"{name}: {text.strip()}" for name, text in reply.errors.items())
    message = reply.message.strip() or reply.reason.strip()
    joined = f"{message.removesuffix('.')}: {details}" if details else message
    return clean_text(joined, request.secrets)


def _contains_any(text: str, signs: tuple[str, ...]) -> bool:
    return any(sign in text for sign in signs)


def _host_error(request: Request, status: int, message: str) -> StockmanError:
    why = f"the host that answered reports {status} {message}".rstrip()
    if status != _HOST_UNREACHABLE and not request.is_read:
        return unknown_outcome(request, why)
    return Unreachable(
        Problem(
            code="proxmox.host-down",
            what=f"the Proxmox host {_request_host(request)} is not reachable from its peers",
            where=request.shown,
            why=why,
            fix="check that the host is up and in the cluster: `pvecm status`",
        )
    )


def _request_host(request: Request) -> str:
    has_host = request.segments[:1] == ("nodes",) and len(request.segments) > 1
    return request.segments[1] if has_host else "in the request"


def _authentication_problem(request: Request, reply: ErrorReply, message: str) -> Problem:
    name = reply.requester.name
    expired = "expired" in message
    rejected = f"Proxmox VE rejects the {name}" if name else "Proxmox VE rejects the credentials"
    return Problem(
        code=AUTHENTICATION,
        what=f"the {name or 'token'} has expired" if expired else rejected,
        where=_location(request, reply),
        why=f"it replies 401 {message}".rstrip(),
        fix=_authentication_fix(reply.requester, expired=expired),
    )


def _authentication_fix(requester: Requester, *, expired: bool) -> str:
    if expired:
        return "extend its expiry, or create a new one, under Datacenter, Permissions"
    if not requester.name:
        return "check token_id and token_secret, and that user and token have not expired"
    source = f", given by {requester.source}," if requester.source else ""
    kind = "password" if requester.name.startswith("user ") else "secret"
    return (
        f"check its {kind}{source} and under Datacenter, Permissions that it is there, is enabled"
        f" and has not expired{f'; {requester.hint}' if requester.hint else ''}"
    )


def _permission_problem(request: Request, reply: ErrorReply, message: str) -> Problem:
    match = _PRIVILEGE.search(message)
    name = reply.requester.name or "token"
    if match is None:
        return Problem(
            code="proxmox.denied",
            what="Proxmox VE denies this request",
            where=_location(request, reply),
            why=message or "it replies 403 without a reason",
            fix=f"give the {name} a role that allows it, or use another user",
        )
    path, privileges = match["path"], match["privileges"].replace("|", " or ")
    users = ", and its user," if name.startswith("token") else ""
    return Problem(
        code="proxmox.denied",
        what=f"the {name} lacks {privileges} on {path}",
        where=_location(request, reply),
        why=message,
        fix=f"give the {name}{users} a role with {privileges} on {path}",
    )


def _location(request: Request, reply: ErrorReply) -> str:
    return f"{request.shown} at {reply.endpoint}" if reply.endpoint else request.shown


def _unsupported_problem(request: Request, message: str) -> Problem:
    return Problem(
        code="proxmox.no-such-call",
        what="this version of Proxmox VE does not support a required API call",
        where=request.shown,
        why=message or "it replies 501",
        fix="compare its version with the versions that `stockman versions` lists",
    )


def _quorum_problem(where: str, message: str) -> Problem:
    return Problem(
        code="proxmox.no-quorum",
        what="the Proxmox cluster has no quorum, so it accepts no changes",
        where=where,
        why=message,
        fix="start hosts until more than half of them are up: see `pvecm status`",
    )


def _agent_problem(where: str, message: str) -> Problem:
    return Problem(
        code="proxmox.agent",
        what="the guest agent of the VM does not respond",
        where=where,
        why=message,
        fix="wait until the VM has booted; Talos needs the extension qemu-guest-agent",
    )


def _lock_problem(where: str, message: str) -> Problem:
    return Problem(
        code="proxmox.locked",
        what="the guest or storage is locked by another task",
        where=where,
        why=message,
        fix="wait for the task that holds the lock; see the task list of the host",
    )


def _digest_problem(where: str, message: str) -> Problem:
    return Problem(
        code="proxmox.changed",
        what="somebody else changed the configuration after it was read",
        where=where,
        why=message,
        fix="run the command again: it reads the current configuration first",
    )


def _exists_problem(where: str, message: str) -> Problem:
    return Problem(
        code="proxmox.exists",
        what="the object already exists in Proxmox VE",
        where=where,
        why=message,
        fix="choose another VMID or name, or check who created it",
    )


def _state_problem(where: str, message: str) -> Problem:
    return Problem(
        code="proxmox.state",
        what="the guest is not in the required state",
        where=where,
        why=message,
        fix="check the state of the guest, then run the command again",
    )


def _not_found_problem(where: str, message: str) -> Problem:
    return Problem(
        code="proxmox.not-found",
        what="the object does not exist in Proxmox VE",
        where=where,
        why=message,
        fix="check the name; create a new plan if the object was deleted manually",
    )


def _host_lookup_problem(where: str, message: str) -> Problem:
    return Problem(
        code="proxmox.host-down",
        what="the host that answered does not know the address of the requested host",
        where=where,
        why=message,
        fix="check that the host is in the cluster: `pvecm status`; then check /etc/hosts and DNS",
    )


def _temporary_problem(where: str, message: str) -> Problem:
    return Problem(
        code="proxmox.timeout",
        what="the Proxmox host is too busy to finish the request",
        where=where,
        why=message,
        fix="run the command again; if it repeats, check the load of the host and its storages",
    )


def _missing_file_problem(where: str, message: str) -> Problem:
    return Problem(
        code="proxmox.refused",
        what="Proxmox VE did not find a file that it needs",
        where=where,
        why=message,
        fix="check on the host that the storage is mounted, and that the file in the log exists",
    )


def _parameter_problem(where: str, message: str) -> Problem:
    return Problem(
        code="proxmox.parameters",
        what="Proxmox VE rejects a parameter",
        where=where,
        why=message,
        fix="correct the parameters named above",
    )


def _rejection_problem(where: str, message: str) -> Problem:
    return Problem(
        code="proxmox.refused",
        what="Proxmox VE refused the request",
        where=where,
        why=message or "it gives no reason",
        fix="correct what the message names, or see the log of the host: `journalctl -u pvedaemon`",
    )


def _answer_problem(request: Request, why: str) -> Problem:
    return Problem(
        code="proxmox.answer",
        what="unexpected response: the server is not Proxmox VE, or its version is not supported",
        where=request.shown,
        why=why,
        fix="check the endpoint; a proxy may have answered instead",
    )
