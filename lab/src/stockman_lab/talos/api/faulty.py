"""Calls that go wrong because the lab was told so."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from weakref import WeakKeyDictionary

from stockman.talos.api.transport import GrpcCode
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.talos.api.call import LOST, ApiFleet, ApiMachine, Cut, Patience, Refusal
from stockman_lab.talos.api.roles import only_reads

TRUNCATED = "truncated"

_first_answers: WeakKeyDictionary[ApiFleet, dict[tuple[int, str, str], list[bytes]]]
_first_answers = WeakKeyDictionary()


def struck(fleet: ApiFleet, machine: ApiMachine, path: str, roles: frozenset[str]) -> Fault | None:
    """The fault that a call meets."""
    service, _, name = path.strip("/").partition("/")
    facts = {
        **machine.facts,
        "service": service,
        "method": name,
        "role": ",".join(sorted(roles)),
    }
    return fleet.fault(Point.TALOS_CALL, facts)


async def spoiled(
    fault: Fault,
    answer: AsyncGenerator[bytes, None],
    rows: tuple[ApiFleet, ApiMachine, str],
    nothing: bytes,
) -> AsyncGenerator[bytes, None]:
    """An answer after a fault was at it; `nothing` is an empty one."""
    effect = fault.effect
    if effect is Effect.CUT:
        raise Cut
    if effect is Effect.FAIL:
        raise _refusal(fault)
    if effect is Effect.HANG:
        await asyncio.get_running_loop().create_future()
    if effect is Effect.CLAIM:
        yield nothing
        return
    if effect in (Effect.DO_THEN_FAIL, Effect.DO_THEN_CUT):
        async for _ in answer:
            pass
        raise Cut if effect is Effect.DO_THEN_CUT else _refusal(fault)
    if effect is Effect.LIE and only_reads(rows[2]):
        for piece in await _as_first(fault, answer, rows):
            yield piece
        return
    if effect is Effect.CORRUPT and fault.message == TRUNCATED:
        pieces = [one async for one in answer]
        for piece in pieces[: len(pieces) // 2]:
            yield piece
        return
    async for piece in answer:
        yield _damage_message(piece) if effect is Effect.CORRUPT else piece


async def delayed(fault: Fault, patience: Patience) -> None:
    """Let the time of a fault pass."""
    if fault.effect is Effect.DELAY:
        await patience.sleep(fault.seconds)


def _refusal(fault: Fault) -> Refusal:
    code = GrpcCode(fault.status) if fault.status else GrpcCode.UNAVAILABLE
    return Refusal(code, fault.message or LOST)


async def _as_first(
    fault: Fault, answer: AsyncIterator[bytes], rows: tuple[ApiFleet, ApiMachine, str]
) -> list[bytes]:
    land, machine, path = rows
    known = _first_answers.setdefault(land, {})
    key = (fault.number, str(machine.facts.get("vmid", machine.hostname)), path)
    if key not in known:
        known[key] = [piece async for piece in answer]
    return known[key]


def _damage_message(piece: bytes) -> bytes:
    middle = len(piece) // 2
    return (
        piece[:middle]
        + bytes(byte ^ 0xFF for byte in piece[middle : middle + 1])
        + piece[middle + 1 :]
    )
