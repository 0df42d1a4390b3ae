"""What a fault makes of an answer over HTTP."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from stockman_lab.core.faults import Effect, Fault
from stockman_lab.http.go_style import text_error
from stockman_lab.http.messages import Cut, Hang, Outcome, Response

TRUNCATED = "truncated"
_TOO_MANY = 429
_UNAVAILABLE = 503


@dataclass(slots=True)
class DelayedOutcome:
    """What becomes of a request, and how long that takes."""

    outcome: Outcome
    seconds: float = 0.0
    is_refused: bool = False
    """Whether nobody listens at all."""


def outcome_under(
    fault: Fault | None,
    make: Callable[[], Response],
    refuse: Callable[[int, str], Response] = text_error,
) -> DelayedOutcome:
    """What is answered where a fault is due, or none. Lies are told by whoever makes the answer."""
    if fault is None:
        return DelayedOutcome(make())
    match fault.effect:
        case Effect.FAIL:
            return DelayedOutcome(_refusal(fault, refuse))
        case Effect.DO_THEN_FAIL:
            make()
            return DelayedOutcome(_refusal(fault, refuse))
        case Effect.DELAY:
            return DelayedOutcome(make(), fault.seconds)
        case Effect.HANG:
            return DelayedOutcome(Hang())
        case Effect.CUT | Effect.KILL:
            return DelayedOutcome(Cut(), is_refused=fault.effect is Effect.KILL)
        case Effect.DO_THEN_CUT:
            make()
            return DelayedOutcome(Cut())
        case Effect.CORRUPT:
            return DelayedOutcome(_damage_response(make(), fault.message))
    return DelayedOutcome(make())


def damaged(content: bytes, how: str) -> bytes:
    """A content with a changed byte in its middle, or half of it."""
    half = len(content) // 2
    if how == TRUNCATED or not content:
        return content[:half]
    return content[:half] + bytes((content[half] ^ 0xFF,)) + content[half + 1 :]


def _damage_response(answer: Response, how: str) -> Response:
    if answer.status != 200 or how not in ("", TRUNCATED):
        return answer
    if how != TRUNCATED:
        return replace(answer, body=damaged(answer.body, how))
    # Its length is told, and then the connection ends in the middle.
    headers = {**answer.headers, "Content-Length": str(len(answer.body))}
    return replace(answer, headers=headers, body=damaged(answer.body, how), close=True)


def _refusal(fault: Fault, refuse: Callable[[int, str], Response]) -> Response:
    status = fault.status or _UNAVAILABLE
    reasons = {_TOO_MANY: "too many requests", _UNAVAILABLE: "service temporarily unavailable"}
    answer = refuse(status, fault.message or reasons.get(status, "internal server error"))
    if fault.seconds:
        answer.headers = {**answer.headers, "Retry-After": str(int(fault.seconds))}
    return answer
