"""What a no of Talos means: from the code and the words of a call's end to one of our errors."""

from __future__ import annotations

import re

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
from stockman.model.record import record
from stockman.model.secret import MASK
from stockman.talos.api import problems
from stockman.talos.api.codes import Code
from stockman.talos.api.wire import Request

_NOT_PULLED = "not found in containerd store"
"""How Talos says, under another code, that an installer is missing."""
_LONGEST = 600
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")

_NOT_DELIVERED = (
    "Error while dialing",
    "authentication handshake failed",
    "lookup error",
    "no such host",
)
"""Words of a machine that could not even pass a call on."""
_BUSY = ("already in progress", "failed to acquire upgrade mutex", "node is rebooting")
_NO_SUCH_KIND = re.compile(r"(resource type|namespace) .* is not supported")


@record
class Refusal:
    """The end of a call that is no reply."""

    code: int
    """As gRPC counts them."""
    message: str = ""


def refusal(request: Request, no: Refusal) -> StockmanError:
    """The error that a refused call ends with."""
    told = clean(no.message, request.secrets)
    match no.code:
        case Code.PERMISSION_DENIED if _NO_SUCH_KIND.search(told):
            return Unsupported(problems.no_such_call(request, told))
        case Code.PERMISSION_DENIED:
            return Denied(problems.denied(request, told))
        case Code.UNAUTHENTICATED:
            return Denied(problems.not_let_in(request.shown, told or "it does not say why"))
        case Code.NOT_FOUND:
            return NotFound(problems.missing(request, told))
        case Code.INTERNAL if _NOT_PULLED in told:
            return NotFound(problems.missing(request, told))
        case Code.ALREADY_EXISTS:
            return Conflict(problems.exists(request, told))
        case Code.FAILED_PRECONDITION | Code.ABORTED:
            return _other_state(request, told)
        case Code.INVALID_ARGUMENT | Code.RESOURCE_EXHAUSTED | Code.OUT_OF_RANGE:
            return Rejected(problems.rejected(request, told))
        case Code.UNIMPLEMENTED:
            return Unsupported(problems.no_such_call(request, told))
        case Code.CANCELLED | Code.DEADLINE_EXCEEDED | Code.INTERNAL | Code.UNAVAILABLE:
            return _no_answer(request, no.code, told)
        case Code.UNKNOWN if _is_any(told, _BUSY):
            return Locked(problems.busy(request, told))
        case Code.UNKNOWN:
            return Rejected(problems.refused(request, told))
    return odd_answer(request, f"it ends the call with code {no.code}: {told}".rstrip(": "))


def odd_answer(request: Request, why: str) -> Rejected:
    """The error of an answer that is not one."""
    return Rejected(problems.odd(request, clean(why, request.secrets)))


def unknown_outcome(request: Request, why: str) -> Uncertain:
    """The error of a change of which nobody knows whether it was made."""
    return Uncertain(problems.unknown_outcome(request, why))


def lost(request: Request, why: str) -> StockmanError:
    """The error of a call whose answer did not come: a read failed, a change may have been made."""
    if request.is_read:
        return Unreachable(problems.silent(request, why))
    return unknown_outcome(request, why)


def clean(text: str, secrets: tuple[str, ...] = ()) -> str:
    """A text of a machine, fit for a terminal and without secrets."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, MASK)
    found = _CONTROL.sub(" ", text).strip()
    return found if len(found) <= _LONGEST else f"{found[:_LONGEST]}..."


def _other_state(request: Request, told: str) -> Conflict:
    if _is_any(told, _BUSY):
        return Locked(problems.busy(request, told))
    return Conflict(problems.other_state(request, told))


def _no_answer(request: Request, code: int, told: str) -> StockmanError:
    if code == Code.UNAVAILABLE and _is_any(told, _NOT_DELIVERED):
        return Unreachable(problems.node_down(request, told))
    if code == Code.INTERNAL and request.is_read:
        return Rejected(problems.refused(request, told))
    return lost(request, told or f"the call ended with code {code}")


def _is_any(told: str, signs: tuple[str, ...]) -> bool:
    return any(sign in told for sign in signs)
