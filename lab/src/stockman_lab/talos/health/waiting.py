"""Waiting for checks to pass, one after the other, and telling how it goes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from stockman.talos.api.transport import GrpcCode
from stockman_lab.talos.api.refusal import Cut, Refusal
from stockman_lab.talos.health.checking import Checking
from stockman_lab.talos.health.checks import CHECKS, Check
from stockman_lab.talos.health.outcome import Failing, Skipped
from stockman_lab.talos.logs.following import Session

if TYPE_CHECKING:
    from stockman_lab.talos.api.call import Call

_TOO_LATE = "context deadline exceeded"
_OK, _SKIP, _AT_WORK = "OK", "SKIP", "..."


async def waited(checking: Checking, deadline: float) -> AsyncIterator[str]:
    """Lines that tell how checks go; the same line is not told twice in a row."""
    session = Session(checking.call)
    last = ""
    for check in CHECKS:
        if checking.call.now >= deadline:
            raise Refusal(GrpcCode.DEADLINE_EXCEEDED, _TOO_LATE)
        async for outcome in _outcomes(checking, check, deadline):
            if not session.lasts:
                raise Cut
            line = f"waiting for {check.name}: {outcome}".strip()
            if line != last:
                yield line
                last = line


async def _outcomes(checking: Checking, check: Check, deadline: float) -> AsyncIterator[str]:
    """What a check says of itself until it passes."""
    call = checking.call
    end = deadline if call.machine.at_least("1.13") else min(deadline, call.now + check.limit)
    yield _AT_WORK
    while True:
        began = call.now
        outcome = await _outcome(checking, check)
        yield outcome
        if outcome in (_OK, _SKIP):
            return
        await _pause(call, began + check.interval, end)
        if call.now >= end:
            raise Refusal(GrpcCode.DEADLINE_EXCEEDED, _TOO_LATE)


async def _outcome(checking: Checking, check: Check) -> str:
    try:
        await check.assertion(checking)
    except Skipped:
        return _SKIP
    except Failing as failing:
        return str(failing)
    return _OK


async def _pause(call: Call, tick: float, end: float) -> None:
    await call.sleep(max(min(tick, end) - call.now, 0.001))
