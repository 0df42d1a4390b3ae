"""What happens on a machine, told as it happens."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING

from stockman.talos.api.transport import GrpcCode
from stockman_lab.talos.api.call import Call, Refusal
from stockman_lab.talos.api.registry import Fields, streamed
from stockman_lab.talos.following import Session
from stockman_lab.talos.state import MachineEvent

if TYPE_CHECKING:
    from stockman.talos.wire.values import Dynamic

_URL = "talos/runtime/"
_DIGITS = frozenset("0123456789abcdefghijklmnopqrstuv")
_LENGTH = 20


@streamed("machine.MachineService", "Events")
async def events(call: Call) -> AsyncIterator[Fields]:
    """An empty greeting, then events: old ones that were asked for, and all that follow.

    The stream ends when the machine goes down.
    """
    request, state = call.request, call.machine.state
    session, kept = Session(call), list(state.events)
    last = kept[-1].id if kept else ""
    yield {"actor_id": request.with_actor_id}
    for event in _old(request, kept, call.machine.clock):
        if _is_wanted(request, event):
            yield _event(event)
    call.machine.followers += 1
    try:
        while session.lasts:
            await call.changed()
            new = [one for one in state.events if one.id > last] if session.same_boot else []
            for event in new:
                last = event.id
                if _is_wanted(request, event):
                    yield _event(event)
    finally:
        call.machine.followers -= 1


def _old(request: Dynamic, kept: Sequence[MachineEvent], now: float) -> Sequence[MachineEvent]:
    """Events that were before and are asked for; one way to ask goes before another."""
    if request.tail_id and not _is_identity(request.tail_id):
        raise Refusal(GrpcCode.UNKNOWN, "error parsing tail_id: xid: invalid ID")
    if request.tail_events:
        count = len(kept) if request.tail_events < 0 else min(request.tail_events, len(kept))
        return list(kept[len(kept) - count :])
    if request.tail_id:
        return [one for one in kept if one.id > request.tail_id]
    if request.tail_seconds:
        return [one for one in kept if one.at > now - request.tail_seconds]
    return []


def _is_identity(text: str) -> bool:
    return len(text) == _LENGTH and set(text) <= _DIGITS


def _is_wanted(request: Dynamic, event: MachineEvent) -> bool:
    return not request.with_actor_id or event.actor == request.with_actor_id


def _event(event: MachineEvent) -> Fields:
    return {
        "id": event.id,
        "actor_id": event.actor,
        "data": (f"{_URL}{event.kind}", event.content),
    }
