"""Problems of the Talos API: each says what is wrong, why, and what would put it right."""

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
from stockman.model.secret import MASK
from stockman.talos.api.transport import GrpcCode, TalosRequest


def permission_denied_problem(request: TalosRequest, told: str) -> Problem:
    return Problem(
        code="talos.denied",
        what="Talos does not allow this call",
        where=request.shown,
        why=told or "it gives no reason",
        fix="use a client certificate with a role that may, such as os:admin",
    )


def unauthenticated_problem(where: str, why: str) -> Problem:
    return Problem(
        code="talos.not-let-in",
        what="Talos does not accept our client certificate",
        where=where,
        why=why,
        fix="make a new one from the secrets bundle: `stockman config talosconfig --renew`",
    )


def not_found_problem(request: TalosRequest, told: str) -> Problem:
    return Problem(
        code="talos.not-found",
        what="Talos does not have what is named here",
        where=request.shown,
        why=told or "it gives no reason",
        fix="check the name; it may also not be there yet",
    )


def already_exists_problem(request: TalosRequest, told: str) -> Problem:
    return Problem(
        code="talos.exists",
        what="Talos has such a thing already",
        where=request.shown,
        why=told or "it gives no reason",
        fix="look at what is there before doing it again",
    )


def precondition_problem(request: TalosRequest, told: str) -> Problem:
    return Problem(
        code="talos.state",
        what="the machine is not in the state that this needs",
        where=request.shown,
        why=told or "it gives no reason",
        fix="look at its stage and its services, and wait until they are what it asks for",
    )


def busy_problem(request: TalosRequest, told: str) -> Problem:
    return Problem(
        code="talos.busy",
        what="somebody else works on the machine right now",
        where=request.shown,
        why=told,
        fix="wait until that is done; the events of the machine tell what it is",
    )


def invalid_request_problem(request: TalosRequest, told: str) -> Problem:
    return Problem(
        code="talos.rejected",
        what="Talos does not take what it was given",
        where=request.shown,
        why=told or "it gives no reason",
        fix="change what it names",
    )


def internal_error_problem(request: TalosRequest, told: str) -> Problem:
    return Problem(
        code="talos.refused",
        what="Talos could not do it",
        where=request.shown,
        why=told or "it gives no reason",
        fix="put right what it names, or see the log of the machine",
    )


def unimplemented_problem(request: TalosRequest, told: str) -> Problem:
    return Problem(
        code="talos.no-such-call",
        what="this Talos does not offer a call that is needed, or not on this machine",
        where=request.shown,
        why=told or "it does not know it",
        fix="compare its version with those that `stockman versions` lists, and its role",
    )


def node_down_problem(request: TalosRequest, told: str) -> Problem:
    return Problem(
        code="talos.node-down",
        what=f"the machine {request.node} cannot be reached by the others",
        where=request.shown,
        why=told,
        fix="look whether its VM runs, and at its console",
    )


def timeout_problem(request: TalosRequest, why: str) -> Problem:
    return Problem(
        code="talos.silent",
        what="the answer of Talos did not come, or not to its end",
        where=request.shown,
        why=why,
        fix="look whether the machine is up, and ask again",
    )


def unreachable_problem(where: str, why: str) -> Problem:
    return Problem(
        code="talos.unreachable",
        what="no Talos API answers",
        where=where,
        why=why,
        fix="check the endpoints, the machines and the network between",
    )


def unknown_outcome_problem(request: TalosRequest, why: str) -> Problem:
    return Problem(
        code="talos.unknown-outcome",
        what="nobody knows whether Talos did what it was asked to do",
        where=request.shown,
        why=why,
        fix="look at the machine before doing it again",
    )


def invalid_answer_problem(request: TalosRequest, why: str) -> Problem:
    return Problem(
        code="talos.answer",
        what="what answers is not, or not yet, the API of Talos as we know it",
        where=request.shown,
        why=why,
        fix="compare its version with those that `stockman versions` lists",
    )


def installer_problem(request: TalosRequest, code: int, lines: tuple[str, ...]) -> Problem:
    said = "; ".join(lines) or "it said nothing"
    return Problem(
        code="talos.installer",
        what=f"the installer ended with exit code {code}, and what is installed stays",
        where=request.shown,
        why=said,
        fix="put right what it names; the machine may boot as before",
    )


def untrusted_certificate_problem(where: str, why: str) -> Problem:
    return Problem(
        code="talos.certificate",
        what="the certificate of a machine is not one to be trusted, and nothing was sent",
        where=where,
        why=why,
        fix="look whether it is the machine that is meant, and in this cluster",
    )


def missing_identity_problem(why: str) -> Problem:
    return Problem(
        code="talos.identity",
        what="our certificates for Talos cannot be used",
        where="talosconfig",
        why=why,
        fix="make them anew: `stockman config talosconfig --renew`",
    )


def invalid_address_problem(where: str, why: str) -> Problem:
    return Problem(
        code="talos.address",
        what="this is no address of a Talos machine",
        where=where,
        why=why,
        fix="write it as an IP address or a name, with a port where it is not 50000",
    )


_NOT_PULLED = "not found in containerd store"
"""How Talos says, under another code, that an installer is missing."""
_LONGEST = 600
_CONTROL = pattern(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")

_NOT_DELIVERED_SIGNS = (
    "Error while dialing",
    "authentication handshake failed",
    "lookup error",
    "no such host",
)
"""Words of a machine that could not even pass a call on."""
_BUSY_SIGNS = ("already in progress", "failed to acquire upgrade mutex", "node is rebooting")
_UNKNOWN_RESOURCE_KIND = pattern(r"(resource type|namespace) .* is not supported")


@record
class CallFailure:
    """The end of a call that is no reply."""

    code: int
    """As gRPC counts them."""
    message: str = ""


def call_error(request: TalosRequest, no: CallFailure) -> StockmanError:
    """The error that a refused call ends with."""
    told = sanitize_text(no.message, request.secrets)
    match no.code:
        case GrpcCode.PERMISSION_DENIED if _UNKNOWN_RESOURCE_KIND.search(told):
            return Unsupported(unimplemented_problem(request, told))
        case GrpcCode.PERMISSION_DENIED:
            return Denied(permission_denied_problem(request, told))
        case GrpcCode.UNAUTHENTICATED:
            return Denied(unauthenticated_problem(request.shown, told or "it does not say why"))
        case GrpcCode.NOT_FOUND:
            return NotFound(not_found_problem(request, told))
        case GrpcCode.INTERNAL if _NOT_PULLED in told:
            return NotFound(not_found_problem(request, told))
        case GrpcCode.ALREADY_EXISTS:
            return Conflict(already_exists_problem(request, told))
        case GrpcCode.FAILED_PRECONDITION | GrpcCode.ABORTED:
            return _precondition_error(request, told)
        case GrpcCode.INVALID_ARGUMENT | GrpcCode.RESOURCE_EXHAUSTED | GrpcCode.OUT_OF_RANGE:
            return Rejected(invalid_request_problem(request, told))
        case GrpcCode.UNIMPLEMENTED:
            return Unsupported(unimplemented_problem(request, told))
        case (
            GrpcCode.CANCELLED
            | GrpcCode.DEADLINE_EXCEEDED
            | GrpcCode.INTERNAL
            | GrpcCode.UNAVAILABLE
        ):
            return _missing_answer_error(request, no.code, told)
        case GrpcCode.UNKNOWN if _contains_any(told, _BUSY_SIGNS):
            return Locked(busy_problem(request, told))
        case GrpcCode.UNKNOWN:
            return Rejected(internal_error_problem(request, told))
    return invalid_answer_error(
        request, f"it ends the call with code {no.code}: {told}".rstrip(": ")
    )


def invalid_answer_error(request: TalosRequest, why: str) -> Rejected:
    """The error of an answer that is not one."""
    return Rejected(invalid_answer_problem(request, sanitize_text(why, request.secrets)))


def unknown_outcome_error(request: TalosRequest, why: str) -> Uncertain:
    """The error of a change of which nobody knows whether it was made."""
    return Uncertain(unknown_outcome_problem(request, why))


def lost_answer_error(request: TalosRequest, why: str) -> StockmanError:
    """The error of a call whose answer did not come: a read failed, a change may have been made."""
    if request.is_read:
        return Unreachable(timeout_problem(request, why))
    return unknown_outcome_error(request, why)


def sanitize_text(text: str, secrets: tuple[str, ...] = ()) -> str:
    """A text of a machine, fit for a terminal and without secrets."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, MASK)
    found = _CONTROL.sub(" ", text).strip()
    return found if len(found) <= _LONGEST else f"{found[:_LONGEST]}..."


def _precondition_error(request: TalosRequest, told: str) -> Conflict:
    if _contains_any(told, _BUSY_SIGNS):
        return Locked(busy_problem(request, told))
    return Conflict(precondition_problem(request, told))


def _missing_answer_error(request: TalosRequest, code: int, told: str) -> StockmanError:
    if code == GrpcCode.UNAVAILABLE and _contains_any(told, _NOT_DELIVERED_SIGNS):
        return Unreachable(node_down_problem(request, told))
    if code == GrpcCode.INTERNAL and request.is_read:
        return Rejected(internal_error_problem(request, told))
    return lost_answer_error(request, told or f"the call ended with code {code}")


def _contains_any(told: str, signs: tuple[str, ...]) -> bool:
    return any(sign in told for sign in signs)
