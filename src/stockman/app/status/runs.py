"""Observe unfinished runs, the lock and the Lease without taking them."""

from __future__ import annotations

from stockman.app.runs.history import load_plan
from stockman.assessment.status.observed import ObservedLease, ObservedRun, ObservedRuns
from stockman.engine.holds import hold_summary
from stockman.engine.journal import open_journal
from stockman.engine.lifecycle import RunHome
from stockman.engine.state import RunState, fold_entries
from stockman.kubernetes.calls.leases import LeaseCalls
from stockman.kubernetes.leases import RUN_LEASE_NAME, RUN_LEASE_NAMESPACE
from stockman.model.errors import NotFound, StockmanError
from stockman.model.record import record
from stockman.ports.system import Clock
from stockman.steps.kubernetes.nodes import Cordon


@record
class _RecordedRun:
    state: RunState
    steps: int


async def observe_runs(home: RunHome, clock: Clock) -> ObservedRuns:
    """Return the newest run, unfinished runs, and the holder of the lock."""
    try:
        names = await home.runs.list_runs()
        runs = []
        for name in reversed(names):
            runs.append(await _read_run(home, name, clock))
            if _is_over(runs[-1].state):
                break
        lock = await home.lock.held_by()
    except StockmanError as error:
        return ObservedRuns(why=f"{error.problem.what}: {error.problem.why}")
    still = [run for run in runs if not _is_over(run.state)]
    return ObservedRuns(
        count=len(names),
        newest=_summarize_run(runs[0]) if runs else None,
        unfinished=tuple(_summarize_run(run) for run in still),
        cordoned=frozenset(name for run in still for name in _cordons(run.state)),
        lock=lock,
    )


async def observe_lease(leases: LeaseCalls | None, clock: Clock) -> ObservedLease | None:
    """Return the Lease of the cluster. None: there is no client."""
    if leases is None:
        return None
    try:
        lease = await leases.lease(RUN_LEASE_NAMESPACE, RUN_LEASE_NAME)
    except NotFound:
        return ObservedLease()
    except StockmanError as error:
        return ObservedLease(why=f"{error.problem.what}: {error.problem.why}")
    return ObservedLease(
        holder=lease.holder, renewed=lease.renewed, is_free=lease.is_free(clock.now())
    )


async def _read_run(home: RunHome, name: str, clock: Clock) -> _RecordedRun:
    journal = await open_journal(await home.runs.lines(name), clock)
    state = fold_entries(name, journal.entries)
    plan = await load_plan(home, state, clock)
    return _RecordedRun(state=state, steps=max(len(plan.steps), len(state.steps)))


def _is_over(state: RunState) -> bool:
    return state.result is not None and state.result.is_final


def _summarize_run(run: _RecordedRun) -> ObservedRun:
    state = run.state
    return ObservedRun(
        run=state.run,
        result=state.result.value if state.result is not None else "open",
        last=state.last,
        done=sum(state.is_done(name) for name in state.steps),
        steps=run.steps,
        held=tuple(hold_summary(held) for held in state.held.values()),
    )


def _cordons(state: RunState) -> list[str]:
    return [
        str(hold.hold.get("node"))
        for hold in state.held.values()
        if hold.hold.get("kind") == Cordon.kind
    ]
