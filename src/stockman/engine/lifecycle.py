"""Runs from outside: begin one, go on with one, give one up."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace

from stockman.engine import problems
from stockman.engine.context import RunContext, RunSettings, StopRequest
from stockman.engine.executor import Executor, RunOutcome
from stockman.engine.holds import Holds
from stockman.engine.journal import JOURNAL_SCHEMA, EntryType, Watcher, open_journal
from stockman.engine.lock import ClusterLease, Fence, LockHolder, LockStore
from stockman.engine.runs import RunStore, new_run_name, newest_run
from stockman.engine.shared_clock import SharedClock
from stockman.engine.state import RunResult, RunState, fold_entries
from stockman.model.errors import Refused
from stockman.model.record import record
from stockman.steps.plan import Plan, parse_plan_with_digest, render_plan_with_digest
from stockman.steps.ports import Ports

Fingerprint = Callable[[Ports, Sequence[str]], Awaitable[Mapping[str, str]]]
"""Digests of what identities name, as it is now; the planner's way to see what a plan touches."""


@record
class RunHome:
    """Where the runs of a cluster and its lock are."""

    runs: RunStore
    lock: LockStore


@record
class RunOptions:
    """How a run is carried out."""

    by: str
    """Who does it, for people: `anna@workbench, process 4711`."""
    stop: StopRequest
    settings: RunSettings = RunSettings()
    watchers: tuple[Watcher, ...] = ()
    """Told of every entry of the journal."""
    fingerprint: Fingerprint | None = None
    """None: the plan was made a moment ago under the same lock."""


async def start_run(home: RunHome, plan: Plan, ports: Ports, way: RunOptions) -> RunOutcome:
    """Carry out a plan. `Locked` where somebody works on the cluster, `Refused` (`plan.moved`)
    where what it touches is not what the plan has seen; nothing has happened then.

    Runs before it that nobody finished are ended first, and what they held is given back.
    """
    newest = ""
    while True:
        run = new_run_name(ports.clock.now(), ports.entropy, after=newest)
        fence = await _take_fence(home, ports, run, way)
        async with fence.kept():
            older = await home.runs.listed()
            newest = newest_run(older)
            if newest < run:
                beginning = _RunStart(run=run, older=older, way=way)
                return await _start(home, plan, _share_clock(ports), fence, beginning)


@record
class _RunStart:
    """A run that is about to begin."""

    run: str
    older: tuple[str, ...]
    """Runs before it, the oldest first."""
    way: RunOptions


async def _start(
    home: RunHome, plan: Plan, ports: Ports, fence: Fence, beginning: _RunStart
) -> RunOutcome:
    run, way = beginning.run, beginning.way
    await _check_plan_is_current(plan, ports, way)
    await _abort_older_runs(home, ports, fence, beginning)
    text, digest = render_plan_with_digest(plan)
    lines = await home.runs.create(run, text)
    journal = await open_journal(lines, ports.clock)
    journal.watchers.extend(way.watchers)
    accepted = _AcceptedRun(run=run, digest=digest, way=way)
    return await _execute_plan(RunContext(plan, ports, journal, fence, way.stop), accepted)


async def resume_run(home: RunHome, run: str, ports: Ports, way: RunOptions) -> RunOutcome:
    """Go on with a run that was killed, paused or failed.

    `Refused` (`run.over`) where it is done or was given up.
    """
    fence = await _take_fence(home, ports, run, way)
    ports = _share_clock(ports)
    async with fence.kept():
        journal = await open_journal(await home.runs.lines(run), ports.clock)
        plan, digest = parse_plan_with_digest(await home.runs.plan(run), run)
        state = fold_entries(run, journal.entries)
        _check_open(state)
        _check_same_plan(state, digest, journal.place)
        journal.watchers.extend(way.watchers)
        if state.accepted is not None:
            note = {"text": f"resumed by {way.by}", "resumed": True}
            await journal.append(EntryType.NOTE, "", note)
        accepted = _AcceptedRun(run=run, digest=digest, way=way)
        return await _execute_plan(RunContext(plan, ports, journal, fence, way.stop), accepted)


async def abort_run(home: RunHome, run: str, ports: Ports, way: RunOptions) -> RunOutcome:
    """Give a run up: what it held is given back, its steps stay as they are."""
    fence = await _take_fence(home, ports, run, way)
    ports = _share_clock(ports)
    async with fence.kept():
        why = f"aborted by {way.by}"
        return await _abort(home, ports, fence, _RunAbort(run=run, why=why, watchers=way.watchers))


@record
class _AcceptedRun:
    """A run whose plan is about to be carried out."""

    run: str
    digest: str
    """That of the plan."""
    way: RunOptions


async def _execute_plan(context: RunContext, accepted: _AcceptedRun) -> RunOutcome:
    run, way = accepted.run, accepted.way
    state = fold_entries(run, context.journal.entries)
    if state.accepted is None:
        data = {
            "schema": JOURNAL_SCHEMA,
            "run": run,
            "cluster": context.plan.cluster,
            "plan": accepted.digest,
            "by": way.by,
            "token": context.fence.token,
            "steps": len(context.plan.steps),
        }
        await context.journal.append(EntryType.ACCEPTED, "", data)
    return await Executor(context, state, way.settings).run()


async def _take_fence(home: RunHome, ports: Ports, run: str, way: RunOptions) -> Fence:
    holder = _lock_holder(ports, run, way)
    tenure = await home.lock.acquire(holder)
    return Fence(tenure, _cluster_lease(home, ports, holder))


def _lock_holder(ports: Ports, run: str, way: RunOptions) -> LockHolder:
    return LockHolder(name=way.by, run=run, nonce=ports.entropy.random_bytes(8).hex())


def _cluster_lease(home: RunHome, ports: Ports, holder: LockHolder) -> ClusterLease | None:
    if ports.kubernetes is None:
        return None
    return ClusterLease(ports.kubernetes, ports.clock, holder, home.runs.listed)


def _share_clock(ports: Ports) -> Ports:
    return replace(ports, clock=SharedClock(ports.clock))


async def _check_plan_is_current(plan: Plan, ports: Ports, way: RunOptions) -> None:
    if way.fingerprint is None:
        return
    now = await way.fingerprint(ports, tuple(plan.touched))
    if places := [name for name, seen in plan.touched.items() if now.get(name) != seen]:
        raise Refused(problems.stale_plan(sorted(places)))


async def _abort_older_runs(
    home: RunHome, ports: Ports, fence: Fence, beginning: _RunStart
) -> None:
    """End runs that nobody finished, from the newest back to the first that is over."""
    for older in reversed(beginning.older):
        journal = await open_journal(await home.runs.lines(older), ports.clock)
        state = fold_entries(older, journal.entries)
        if state.result is not None and state.result.is_final:
            return
        ending = _RunAbort(run=older, why=f"followed by run {beginning.run}")
        # Whoever goes on after a kill knows this run, and not yet the one that is about to begin.
        lease = _cluster_lease(home, ports, _lock_holder(ports, older, beginning.way))
        async with fence.under(lease) as held:
            outcome = await _abort(home, ports, held, ending)
        if outcome.problems:
            raise Refused(outcome.problems[0])


@record
class _RunAbort:
    """A run that is given up."""

    run: str
    why: str
    watchers: tuple[Watcher, ...] = ()


async def _abort(home: RunHome, ports: Ports, fence: Fence, ending: _RunAbort) -> RunOutcome:
    run = ending.run
    journal = await open_journal(await home.runs.lines(run), ports.clock)
    state = fold_entries(run, journal.entries)
    _check_open(state)
    journal.watchers.extend(ending.watchers)
    plan = Plan(cluster=state.cluster, made_at=ports.clock.now(), steps=())
    holding = Holds(RunContext(plan, ports, journal, fence, StopRequest()), state)
    await holding.give_back_all()
    if state.accepted is None:
        await journal.append(EntryType.ACCEPTED, "", {"schema": JOURNAL_SCHEMA, "run": run})
    await journal.append(EntryType.NOTE, "", {"text": ending.why})
    result = RunResult.FAILED if holding.problems else RunResult.ABORTED
    await journal.append(EntryType.ENDED, "", {"result": result.value})
    after = fold_entries(run, journal.entries)
    return RunOutcome(state=after, result=result, problems=tuple(holding.problems))


def _check_open(state: RunState) -> None:
    if state.result is not None and state.result.is_final:
        raise Refused(problems.run_not_resumable(state.run, state.result.value))


def _check_same_plan(state: RunState, digest: str, place: str) -> None:
    if state.accepted is not None and state.plan != digest:
        why = "the plan beside it is not the one that was accepted"
        raise Refused(problems.journal_corrupt(place, 1, why))
