"""Runs from outside: begin one, go on with one, give one up."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace

from stockman.engine import problems
from stockman.engine.context import Context, Settings
from stockman.engine.entry import SCHEMA, Event
from stockman.engine.executor import Executor, Outcome
from stockman.engine.fence import Fence
from stockman.engine.holding import Holding
from stockman.engine.journal import Watcher, opened
from stockman.engine.lease import ClusterLease
from stockman.engine.lock import Holder, LockHome
from stockman.engine.runs import Runs, new_run, newest_of
from stockman.engine.shared_clock import SharedClock
from stockman.engine.state import Result, RunState, folded
from stockman.engine.stop import Stop
from stockman.model.errors import Refused
from stockman.model.record import record
from stockman.steps.plan import Plan
from stockman.steps.plan_file import digested_text, read_digested
from stockman.steps.ports import Ports

Fingerprint = Callable[[Ports, Sequence[str]], Awaitable[Mapping[str, str]]]
"""Digests of what identities name, as it is now; the planner's way to see what a plan touches."""


@record
class Home:
    """Where the runs of a cluster and its lock are."""

    runs: Runs
    lock: LockHome


@record
class Way:
    """How a run is carried out."""

    by: str
    """Who does it, for people: `anna@workbench, process 4711`."""
    stop: Stop
    settings: Settings = Settings()
    watchers: tuple[Watcher, ...] = ()
    """Told of every entry of the journal."""
    fingerprint: Fingerprint | None = None
    """None: the plan was made a moment ago under the same lock."""


async def begin(home: Home, plan: Plan, ports: Ports, way: Way) -> Outcome:
    """Carry out a plan. `Locked` where somebody works on the cluster, `Refused` (`plan.moved`)
    where what it touches is not what the plan has seen; nothing has happened then.

    Runs before it that nobody finished are ended first, and what they held is given back.
    """
    newest = ""
    while True:
        run = new_run(ports.clock.now(), ports.entropy, after=newest)
        fence = await _fenced(home, ports, run, way)
        async with fence.kept():
            older = await home.runs.listed()
            newest = newest_of(older)
            if newest < run:
                beginning = _Beginning(run=run, older=older, way=way)
                return await _begun(home, plan, _shared(ports), fence, beginning)


@record
class _Beginning:
    """A run that is about to begin."""

    run: str
    older: tuple[str, ...]
    """Runs before it, the oldest first."""
    way: Way


async def _begun(
    home: Home, plan: Plan, ports: Ports, fence: Fence, beginning: _Beginning
) -> Outcome:
    run, way = beginning.run, beginning.way
    await _unmoved(plan, ports, way)
    await _end_older(home, ports, fence, beginning)
    text, digest = digested_text(plan)
    lines = await home.runs.create(run, text)
    journal = await opened(lines, ports.clock)
    journal.watchers.extend(way.watchers)
    accepted = _Accepted(run=run, digest=digest, way=way)
    return await _carried_out(Context(plan, ports, journal, fence, way.stop), accepted)


async def resume(home: Home, run: str, ports: Ports, way: Way) -> Outcome:
    """Go on with a run that was killed, paused or failed.

    `Refused` (`run.over`) where it is done or was given up.
    """
    fence = await _fenced(home, ports, run, way)
    ports = _shared(ports)
    async with fence.kept():
        journal = await opened(await home.runs.lines(run), ports.clock)
        plan, digest = read_digested(await home.runs.plan(run), run)
        state = folded(run, journal.entries)
        _still_open(state)
        _same_plan(state, digest, journal.place)
        journal.watchers.extend(way.watchers)
        if state.accepted is not None:
            note = {"text": f"resumed by {way.by}", "resumed": True}
            await journal.append(Event.NOTE, "", note)
        accepted = _Accepted(run=run, digest=digest, way=way)
        return await _carried_out(Context(plan, ports, journal, fence, way.stop), accepted)


async def abort(home: Home, run: str, ports: Ports, way: Way) -> Outcome:
    """Give a run up: what it held is given back, its steps stay as they are."""
    fence = await _fenced(home, ports, run, way)
    ports = _shared(ports)
    async with fence.kept():
        why = f"aborted by {way.by}"
        return await _given_up(home, ports, fence, _Ending(run=run, why=why, watchers=way.watchers))


@record
class _Accepted:
    """A run whose plan is about to be carried out."""

    run: str
    digest: str
    """That of the plan."""
    way: Way


async def _carried_out(context: Context, accepted: _Accepted) -> Outcome:
    run, way = accepted.run, accepted.way
    state = folded(run, context.journal.entries)
    if state.accepted is None:
        data = {
            "schema": SCHEMA,
            "run": run,
            "cluster": context.plan.cluster,
            "plan": accepted.digest,
            "by": way.by,
            "token": context.fence.token,
            "steps": len(context.plan.steps),
        }
        await context.journal.append(Event.ACCEPTED, "", data)
    return await Executor(context, state, way.settings).run()


async def _fenced(home: Home, ports: Ports, run: str, way: Way) -> Fence:
    holder = _holder(ports, run, way)
    tenure = await home.lock.acquire(holder)
    return Fence(tenure, _lease(home, ports, holder))


def _holder(ports: Ports, run: str, way: Way) -> Holder:
    return Holder(name=way.by, run=run, nonce=ports.entropy.random_bytes(8).hex())


def _lease(home: Home, ports: Ports, holder: Holder) -> ClusterLease | None:
    if ports.kubernetes is None:
        return None
    return ClusterLease(ports.kubernetes, ports.clock, holder, home.runs.listed)


def _shared(ports: Ports) -> Ports:
    return replace(ports, clock=SharedClock(ports.clock))


async def _unmoved(plan: Plan, ports: Ports, way: Way) -> None:
    if way.fingerprint is None:
        return
    now = await way.fingerprint(ports, tuple(plan.touched))
    if places := [name for name, seen in plan.touched.items() if now.get(name) != seen]:
        raise Refused(problems.moved(sorted(places)))


async def _end_older(home: Home, ports: Ports, fence: Fence, beginning: _Beginning) -> None:
    """End runs that nobody finished, from the newest back to the first that is over."""
    for older in reversed(beginning.older):
        journal = await opened(await home.runs.lines(older), ports.clock)
        state = folded(older, journal.entries)
        if state.result is not None and state.result.is_final:
            return
        ending = _Ending(run=older, why=f"followed by run {beginning.run}")
        # Whoever goes on after a kill knows this run, and not yet the one that is about to begin.
        lease = _lease(home, ports, _holder(ports, older, beginning.way))
        async with fence.under(lease) as held:
            outcome = await _given_up(home, ports, held, ending)
        if outcome.problems:
            raise Refused(outcome.problems[0])


@record
class _Ending:
    """A run that is given up."""

    run: str
    why: str
    watchers: tuple[Watcher, ...] = ()


async def _given_up(home: Home, ports: Ports, fence: Fence, ending: _Ending) -> Outcome:
    run = ending.run
    journal = await opened(await home.runs.lines(run), ports.clock)
    state = folded(run, journal.entries)
    _still_open(state)
    journal.watchers.extend(ending.watchers)
    plan = Plan(cluster=state.cluster, made_at=ports.clock.now(), steps=())
    holding = Holding(Context(plan, ports, journal, fence, Stop()), state)
    await holding.give_back_all()
    if state.accepted is None:
        await journal.append(Event.ACCEPTED, "", {"schema": SCHEMA, "run": run})
    await journal.append(Event.NOTE, "", {"text": ending.why})
    result = Result.FAILED if holding.problems else Result.ABORTED
    await journal.append(Event.ENDED, "", {"result": result.value})
    after = folded(run, journal.entries)
    return Outcome(state=after, result=result, problems=tuple(holding.problems))


def _still_open(state: RunState) -> None:
    if state.result is not None and state.result.is_final:
        raise Refused(problems.run_over(state.run, state.result.value))


def _same_plan(state: RunState, digest: str, place: str) -> None:
    if state.accepted is not None and state.plan != digest:
        why = "the plan beside it is not the one that was accepted"
        raise Refused(problems.journal_damaged(place, 1, why))
