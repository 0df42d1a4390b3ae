"""Start, resume and abort runs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial

from stockman.engine import problems
from stockman.engine.context import RunContext, RunSettings, StopRequest
from stockman.engine.etcd_records import EtcdRecords
from stockman.engine.executor import Executor, RunOutcome
from stockman.engine.holds import Holds
from stockman.engine.journal import JOURNAL_SCHEMA, EntryType, Journal, Watcher, open_journal
from stockman.engine.lock import ClusterLease, Fence, LockHolder, LockStore
from stockman.engine.runs import RunStore, new_run_name, newest_run
from stockman.engine.shared_clock import SharedClock
from stockman.engine.signing import RunSigner
from stockman.engine.state import RunResult, RunState, fold_entries
from stockman.model.errors import Refused
from stockman.model.record import record
from stockman.ports.system import Clock
from stockman.steps.plan import Plan, parse_plan_with_digest, render_plan_with_digest
from stockman.steps.ports import Ports

Fingerprint = Callable[[Ports, Sequence[str]], Awaitable[Mapping[str, str]]]
"""Computes current digests of the objects that a plan touches, by identity."""


@record
class RunHome:
    """Storage of the runs and of the lock of a cluster."""

    runs: RunStore
    lock: LockStore
    signer: RunSigner | None = None
    """Signs and verifies runs. None: a configuration without secrets has no key."""


@record
class RunOptions:
    """Options of a run."""

    by: str
    """Who executes it, for messages: `anna@workbench, process 4711`."""
    stop: StopRequest
    settings: RunSettings = RunSettings()
    watchers: tuple[Watcher, ...] = ()
    """Called with every entry of the journal."""
    fingerprint: Fingerprint | None = None
    """None: do not check whether the plan is current."""


async def start_run(home: RunHome, plan: Plan, ports: Ports, options: RunOptions) -> RunOutcome:
    """Execute a plan.

    Unfinished older runs are aborted first, and their holds released. Raises `Locked` if another
    run holds the lock, and `Refused` (`plan.moved`) if an object that the plan touches has changed
    since; nothing is executed then.
    """
    newest = ""
    while True:
        run = new_run_name(ports.clock.now(), ports.entropy, after=newest)
        fence = await _take_fence(home, ports, run, options)
        async with fence.keep_alive():
            older = await home.runs.list_runs()
            newest = newest_run(older)
            if newest < run:
                start = _RunStart(run=run, older=older, options=options)
                return await _start(home, plan, _share_clock(ports), fence, start)


@record
class _RunStart:
    """A run that is about to start."""

    run: str
    older: tuple[str, ...]
    """Earlier runs, oldest first."""
    options: RunOptions


async def _start(
    home: RunHome, plan: Plan, ports: Ports, fence: Fence, start: _RunStart
) -> RunOutcome:
    run, options = start.run, start.options
    await _check_plan_is_current(plan, ports, options)
    await _abort_older_runs(home, ports, fence, start)
    signer = home.signer
    sign = partial(signer.sign_run, run) if signer is not None else None
    text, digest = render_plan_with_digest(plan, sign)
    lines = await home.runs.create(run, text)
    keys = signer.journal_keys(run) if signer is not None else None
    journal = await open_journal(lines, ports.clock, keys)
    journal.watchers.extend(options.watchers)
    accepted = _AcceptedRun(run=run, digest=digest, options=options)
    ports = _with_etcd_records(ports, home, run)
    return await _execute_plan(RunContext(plan, ports, journal, fence, options.stop), accepted)


async def resume_run(home: RunHome, run: str, ports: Ports, options: RunOptions) -> RunOutcome:
    """Resume a run that was killed, paused or failed.

    Raises `Refused` (`run.over`) if it has succeeded or was aborted.
    """
    fence = await _take_fence(home, ports, run, options)
    ports = _with_etcd_records(_share_clock(ports), home, run)
    async with fence.keep_alive():
        journal = await open_signed_journal(home, run, ports.clock)
        plan, digest = parse_plan_with_digest(await home.runs.plan(run), run)
        state = fold_entries(run, journal.entries)
        _check_open(state)
        _check_same_plan(state, digest, journal.location)
        journal.watchers.extend(options.watchers)
        if state.accepted is not None:
            note = {"text": f"resumed by {options.by}", "resumed": True}
            await journal.append(EntryType.NOTE, "", note)
        accepted = _AcceptedRun(run=run, digest=digest, options=options)
        return await _execute_plan(RunContext(plan, ports, journal, fence, options.stop), accepted)


async def abort_run(home: RunHome, run: str, ports: Ports, options: RunOptions) -> RunOutcome:
    """Abort a run: release its holds, and leave its steps as they are."""
    fence = await _take_fence(home, ports, run, options)
    ports = _share_clock(ports)
    async with fence.keep_alive():
        why = f"aborted by {options.by}"
        return await _abort(
            home, ports, fence, _RunAbort(run=run, why=why, watchers=options.watchers)
        )


@record
class _AcceptedRun:
    """A run whose plan is about to be executed."""

    run: str
    digest: str
    """Digest of the plan."""
    options: RunOptions


async def _execute_plan(context: RunContext, accepted: _AcceptedRun) -> RunOutcome:
    run, options = accepted.run, accepted.options
    state = fold_entries(run, context.journal.entries)
    if state.accepted is None:
        data = {
            "schema": JOURNAL_SCHEMA,
            "run": run,
            "cluster": context.plan.cluster,
            "plan": accepted.digest,
            "by": options.by,
            "token": context.fence.token,
            "steps": len(context.plan.steps),
            "ends_cluster": context.plan.ends_cluster,
        }
        await context.journal.append(EntryType.ACCEPTED, "", data)
    return await Executor(context, state, options.settings).run()


async def _take_fence(home: RunHome, ports: Ports, run: str, options: RunOptions) -> Fence:
    holder = _lock_holder(ports, run, options)
    held_lock = await home.lock.acquire(holder)
    return Fence(held_lock, _cluster_lease(home, ports, holder))


@asynccontextmanager
async def hold_lock(home: RunHome, ports: Ports, by: str, purpose: str) -> AsyncIterator[None]:
    """Keep runs out until the context ends. Raises `Locked` if a run holds the lock."""
    holder = LockHolder(name=by, run=purpose, nonce=ports.entropy.random_bytes(8).hex())
    async with Fence(await home.lock.acquire(holder)).keep_alive():
        yield


def _lock_holder(ports: Ports, run: str, options: RunOptions) -> LockHolder:
    return LockHolder(name=options.by, run=run, nonce=ports.entropy.random_bytes(8).hex())


def _cluster_lease(home: RunHome, ports: Ports, holder: LockHolder) -> ClusterLease | None:
    if ports.kubernetes is None:
        return None
    return ClusterLease(ports.kubernetes, ports.clock, holder, home.runs.list_runs)


def _share_clock(ports: Ports) -> Ports:
    return replace(ports, clock=SharedClock(ports.clock))


def _with_etcd_records(ports: Ports, home: RunHome, run: str) -> Ports:
    records = EtcdRecords(home.runs, ports.clock, home.signer)
    return replace(ports, earlier_etcd=partial(records.find_earlier_etcd, without=run))


async def _check_plan_is_current(plan: Plan, ports: Ports, options: RunOptions) -> None:
    if options.fingerprint is None:
        return
    current = await options.fingerprint(ports, tuple(plan.touched))
    if changed := [name for name, planned in plan.touched.items() if current.get(name) != planned]:
        raise Refused(problems.stale_plan(sorted(changed)))


async def _abort_older_runs(home: RunHome, ports: Ports, fence: Fence, start: _RunStart) -> None:
    """Abort unfinished runs, from the newest back to the first one that has ended."""
    for older in reversed(start.older):
        try:
            journal = await open_signed_journal(home, older, ports.clock)
        except Refused as error:
            await _refuse_unsigned_holds(home, older, ports, error)
            continue
        state = fold_entries(older, journal.entries)
        if state.result is not None and state.result.is_final:
            return
        abort = _RunAbort(run=older, why=f"followed by run {start.run}")
        # After a kill the store knows the older run, but not yet the one that is about to start.
        lease = _cluster_lease(home, ports, _lock_holder(ports, older, start.options))
        async with fence.with_lease(lease) as inner_fence:
            outcome = await _abort(home, ports, inner_fence, abort)
        if outcome.problems:
            raise Refused(outcome.problems[0])


async def open_signed_journal(home: RunHome, run: str, clock: Clock) -> Journal:
    """Open the journal of a run to continue it; raises `Refused` unless both are signed."""
    keys = None
    if home.signer is not None:
        keys = home.signer.check_run(run, await home.runs.plan(run))
    return await open_journal(await home.runs.lines(run), clock, keys)


async def _refuse_unsigned_holds(home: RunHome, run: str, ports: Ports, error: Refused) -> None:
    """Raise the error of an unsigned run again if the run may hold something.

    Otherwise nothing of it is executed, and it needs no end.
    """
    if error.problem.code != _UNSIGNED:
        raise error
    journal = await open_journal(await home.runs.lines(run), ports.clock)
    if fold_entries(run, journal.entries).held:
        raise error


_UNSIGNED = problems.unsigned_run("", "").code


@record
class _RunAbort:
    """A run to abort."""

    run: str
    why: str
    watchers: tuple[Watcher, ...] = ()


async def _abort(home: RunHome, ports: Ports, fence: Fence, abort: _RunAbort) -> RunOutcome:
    run = abort.run
    journal = await open_signed_journal(home, run, ports.clock)
    state = fold_entries(run, journal.entries)
    _check_open(state)
    journal.watchers.extend(abort.watchers)
    plan = Plan(cluster=state.cluster, made_at=ports.clock.now(), steps=())
    holds = Holds(RunContext(plan, ports, journal, fence, StopRequest()), state)
    await holds.release_all()
    if state.accepted is None:
        await journal.append(EntryType.ACCEPTED, "", {"schema": JOURNAL_SCHEMA, "run": run})
    await journal.append(EntryType.NOTE, "", {"text": abort.why})
    result = RunResult.FAILED if holds.problems else RunResult.ABORTED
    await journal.append(EntryType.ENDED, "", {"result": result.value})
    final_state = fold_entries(run, journal.entries)
    return RunOutcome(state=final_state, result=result, problems=tuple(holds.problems))


def _check_open(state: RunState) -> None:
    if state.result is not None and state.result.is_final:
        raise Refused(problems.run_not_resumable(state.run, state.result.value))


def _check_same_plan(state: RunState, digest: str, location: str) -> None:
    if state.accepted is not None and state.plan != digest:
        why = "the stored plan is not the accepted one"
        raise Refused(problems.journal_corrupt(location, 1, why))
