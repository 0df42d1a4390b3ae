"""Errors of Talos API calls: what a failed call means, and the problem that users see."""

from __future__ import annotations

from stockman.model.errors import (
    Conflict,
    Denied,
    Locked,
    NotFound,
    Rejected,
    StockmanError,
    Uncertain,
    Unreachable,
    Unsupported,
)
from stockman.model.pattern import pattern
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.model.secret import clean_text
from stockman.talos.api.transport import GrpcCode, TalosRequest

_TEXTS = {
    "talos.address": (
        "this is not the address of a Talos machine",
        "use an IP address or a name, with a port if it is not 50000",
    ),
    "talos.answer": (
        "the answer is not one of a supported Talos API",
        "compare its version with those that `stockman versions` lists",
    ),
    "talos.busy": (
        "another operation is in progress on the machine",
        "wait until it has finished; the events of the machine show what it is",
    ),
    "talos.certificate": (
        "the certificate of a machine is not trusted, and nothing was sent",
        "check that it is the intended machine, and that it belongs to this cluster",
    ),
    "talos.denied": (
        "Talos does not permit this call",
        "use a client certificate with a role that permits it, such as os:admin",
    ),
    "talos.exists": (
        "the resource already exists on the machine",
        "check its state before you repeat the call",
    ),
    "talos.identity": (
        "our client credentials for Talos cannot be used",
        "create new ones: `stockman config talosconfig --renew`",
    ),
    "talos.installer": (
        "the installer failed, and the installed system did not change",
        "correct what it reports; the machine may boot as before",
    ),
    "talos.no-such-call": (
        "this Talos does not support a required call, or not on this machine",
        "compare its version with those that `stockman versions` lists, and its role",
    ),
    "talos.node-down": (
        "the machine cannot be reached from the endpoint",
        "check whether its VM is running, and read its console",
    ),
    "talos.not-found": (
        "the resource does not exist on the machine",
        "check the name; it may also not exist yet",
    ),
    "talos.not-let-in": (
        "Talos rejects our client certificate",
        "create a new one from the secrets bundle: `stockman config talosconfig --renew`",
    ),
    "talos.refused": (
        "Talos failed to execute the call",
        "correct what it reports, or read the log of the machine",
    ),
    "talos.rejected": ("Talos rejected the request as invalid", "correct what it reports"),
    "talos.silent": (
        "Talos did not answer, or not completely",
        "check whether the machine is running, and try again",
    ),
    "talos.state": (
        "the machine is not in the state that this call requires",
        "check its stage and services, and wait until they permit the call",
    ),
    "talos.unknown-outcome": (
        "it is unknown whether Talos made the change",
        "check the machine before you repeat the call",
    ),
    "talos.unreachable": (
        "no Talos API answers",
        "check the endpoints, the machines and the network between them",
    ),
}
"""What is wrong, and how to fix it, by problem code."""


def talos_problem(code: str, where: str, why: str) -> Problem:
    """Return the problem with a code; an empty reason becomes a sentence."""
    what, fix = _TEXTS[code]
    return Problem(code=code, what=what, where=where, why=why or "it gives no reason", fix=fix)


_NOT_PULLED = "not found in containerd store"
"""How Talos says, under another code, that an installer is missing."""

_NOT_DELIVERED_SIGNS = (
    "Error while dialing",
    "authentication handshake failed",
    "lookup error",
    "no such host",
)
"""Messages of an endpoint that could not pass a call on to its machine."""
_BUSY_SIGNS = ("already in progress", "failed to acquire upgrade mutex", "node is rebooting")
_UNKNOWN_RESOURCE_KIND = pattern(r"(resource type|namespace) .* is not supported")


@record
class CallFailure:
    """Code and message of a failed call."""

    code: int
    """Of gRPC; values that `GrpcCode` lacks are possible."""
    message: str = ""


_ERRORS: dict[int, tuple[type[StockmanError], str]] = {
    GrpcCode.PERMISSION_DENIED: (Denied, "talos.denied"),
    GrpcCode.UNAUTHENTICATED: (Denied, "talos.not-let-in"),
    GrpcCode.NOT_FOUND: (NotFound, "talos.not-found"),
    GrpcCode.ALREADY_EXISTS: (Conflict, "talos.exists"),
    GrpcCode.FAILED_PRECONDITION: (Conflict, "talos.state"),
    GrpcCode.ABORTED: (Conflict, "talos.state"),
    GrpcCode.INVALID_ARGUMENT: (Rejected, "talos.rejected"),
    GrpcCode.RESOURCE_EXHAUSTED: (Rejected, "talos.rejected"),
    GrpcCode.OUT_OF_RANGE: (Rejected, "talos.rejected"),
    GrpcCode.UNIMPLEMENTED: (Unsupported, "talos.no-such-call"),
    GrpcCode.UNKNOWN: (Rejected, "talos.refused"),
}
"""Errors by code; all other codes depend on more than the code."""
_MAYBE_BUSY = (GrpcCode.FAILED_PRECONDITION, GrpcCode.ABORTED, GrpcCode.UNKNOWN)


def call_error(request: TalosRequest, failure: CallFailure) -> StockmanError:
    """Return the error that a failed call raises."""
    why = clean_text(failure.message, request.secrets)
    kind, code = _error_kind(request, failure.code, why)
    if code == "talos.answer":
        why = f"it ends the call with code {failure.code}: {why}".rstrip(": ")
    elif code in ("talos.silent", "talos.unknown-outcome"):
        why = why or f"the call ended with code {failure.code}"
    return kind(talos_problem(code, request.shown, why))


def _error_kind(request: TalosRequest, code: int, why: str) -> tuple[type[StockmanError], str]:
    """Return the class of an error, and the code of its problem."""
    if code == GrpcCode.PERMISSION_DENIED and _UNKNOWN_RESOURCE_KIND.search(why):
        return Unsupported, "talos.no-such-call"
    if code == GrpcCode.INTERNAL and _NOT_PULLED in why:
        return NotFound, "talos.not-found"
    if code in _MAYBE_BUSY and any(sign in why for sign in _BUSY_SIGNS):
        return Locked, "talos.busy"
    if code == GrpcCode.UNAVAILABLE and any(sign in why for sign in _NOT_DELIVERED_SIGNS):
        return Unreachable, "talos.node-down"
    if code == GrpcCode.INTERNAL and request.is_read:
        return Rejected, "talos.refused"
    if code in (
        GrpcCode.CANCELLED,
        GrpcCode.DEADLINE_EXCEEDED,
        GrpcCode.INTERNAL,
        GrpcCode.UNAVAILABLE,
    ):
        return _lost_answer_kind(request)
    return _ERRORS.get(code, (Rejected, "talos.answer"))


def _lost_answer_kind(request: TalosRequest) -> tuple[type[StockmanError], str]:
    return (
        (Unreachable, "talos.silent") if request.is_read else (Uncertain, "talos.unknown-outcome")
    )


def invalid_answer_error(request: TalosRequest, why: str) -> Rejected:
    """Return the error of an invalid answer."""
    why = clean_text(why, request.secrets)
    return Rejected(talos_problem("talos.answer", request.shown, why))


def lost_answer_error(request: TalosRequest, why: str) -> StockmanError:
    """Return the error of a missing answer: a read failed, a change may have been made."""
    kind, code = _lost_answer_kind(request)
    return kind(talos_problem(code, request.shown, why))
