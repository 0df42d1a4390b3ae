"""Runs that nobody finished, the lock and the Lease, read without taking either."""

from __future__ import annotations

from stockman.app.runs import readable_plan
from stockman.app.status.seen import LeaseSeen, RunSeen, RunsSeen
from stockman.engine.carrying_out import Home
from stockman.engine.holding import hold_name
from stockman.engine.journal import opened
from stockman.engine.state import RunState, folded
from stockman.model.errors import NotFound, StockmanError
from stockman.model.record import record
from stockman.ports.clock import Clock
from stockman.ports.kubernetes.leases import RUN_LEASE_NAME, RUN_LEASE_NAMESPACE, Leases
from stockman.steps.kube_cordon import Cordon


@record
class _Read:
    state: RunState
    steps: int


async def look_at_runs(home: Home, clock: Clock) -> RunsSeen:
    """The newest run, those that are open, and who has the lock."""
    try:
        names = await home.runs.listed()
        found = []
        for name in reversed(names):
            found.append(await _read(home, name, clock))
            if _is_over(found[-1].state):
                break
        lock = await home.lock.held_by()
    except StockmanError as no:
        return RunsSeen(why=f"{no.problem.what}: {no.problem.why}")
    still = [one for one in found if not _is_over(one.state)]
    return RunsSeen(
        count=len(names),
        newest=_seen(found[0]) if found else None,
        unfinished=tuple(_seen(one) for one in still),
        cordoned=frozenset(name for one in still for name in _cordoned(one.state)),
        lock=lock,
    )


async def look_at_lease(leases: Leases | None, clock: Clock) -> LeaseSeen | None:
    """Who has the Lease of the cluster. None: there is nobody to ask."""
    if leases is None:
        return None
    try:
        found = await leases.lease(RUN_LEASE_NAMESPACE, RUN_LEASE_NAME)
    except NotFound:
        return LeaseSeen()
    except StockmanError as no:
        return LeaseSeen(why=f"{no.problem.what}: {no.problem.why}")
    return LeaseSeen(holder=found.holder, renewed=found.renewed, is_free=found.is_free(clock.now()))


async def _read(home: Home, name: str, clock: Clock) -> _Read:
    journal = await opened(await home.runs.lines(name), clock)
    state = folded(name, journal.entries)
    plan = await readable_plan(home, state, clock)
    return _Read(state=state, steps=max(len(plan.steps), len(state.steps)))


def _is_over(state: RunState) -> bool:
    return state.result is not None and state.result.is_final


def _seen(one: _Read) -> RunSeen:
    state = one.state
    return RunSeen(
        run=state.run,
        result=state.result.value if state.result is not None else "open",
        last=state.last,
        done=sum(state.is_done(name) for name in state.steps),
        steps=one.steps,
        held=tuple(hold_name(held) for held in state.held.values()),
    )


def _cordoned(state: RunState) -> list[str]:
    return [
        str(one.hold.get("node"))
        for one in state.held.values()
        if one.hold.get("kind") == Cordon.kind
    ]
