"""Runs: which there were, how each went, and going on with one or giving it up."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime

from stockman.engine import problems
from stockman.engine.carrying_out import Home
from stockman.engine.entry import Entry
from stockman.engine.journal import opened
from stockman.engine.state import Held, Result, RunState, StepState, folded
from stockman.engine.times import seconds_left
from stockman.model.errors import NotFound, Refused
from stockman.model.record import record
from stockman.ports.clock import Clock
from stockman.steps.form import written
from stockman.steps.plan import Plan
from stockman.steps.plan_file import read_plan

EXPORT_SCHEMA = "stockman.run/1"


@record
class RunRow:
    """A run in a list."""

    run: str
    cluster: str
    result: str
    """`done`, `failed`, `refused`, `paused`, `aborted`, or `open`: it runs or was killed."""
    started: datetime | None
    """None: it was killed before its first entry."""
    last: datetime | None
    """When its journal was last written. None: never."""
    done: int
    """Steps that are finished."""
    steps: int
    held: int
    """What it took and has not given back."""
    by: str


@record
class StepView:
    """A step of a run, with what became of it."""

    id: str
    summary: str
    state: StepState


@record
class RunView:
    """A run in full."""

    run: RunRow
    steps: tuple[StepView, ...]
    """In the order of the plan."""
    held: tuple[Held, ...]
    notes: tuple[str, ...]
    seconds_left: float
    """What is left to do takes so long, by estimates."""


@record
class RunSoFar:
    """What is written of a run that somebody is about to go on with."""

    run: str
    plan: Plan
    """Without steps where this program cannot read it; whoever needs them is refused later."""
    entries: tuple[Entry, ...]


async def listed(home: Home, clock: Clock) -> tuple[RunRow, ...]:
    """Every run, the oldest first."""
    return tuple([await _row(home, run, clock) for run in await home.runs.listed()])


async def shown(home: Home, run: str | None, clock: Clock) -> RunView:
    """One run; the newest if none is named."""
    name = await chosen(home, run)
    state, plan = await _read(home, name, clock)
    return RunView(
        run=_row_of(state, plan),
        steps=tuple(_views(state, plan)),
        held=tuple(state.held.values()),
        notes=state.notes,
        seconds_left=seconds_left(plan, state, clock.now()),
    )


async def exported(home: Home, run: str | None, clock: Clock) -> dict[str, object]:
    """Everything that is kept of a run: its plan and its journal, as JSON."""
    name = await chosen(home, run)
    journal = await opened(await home.runs.lines(name), clock)
    return {
        "schema": EXPORT_SCHEMA,
        "run": name,
        "plan": json.loads(await home.runs.plan(name)),
        "journal": [written(entry) for entry in journal.entries],
    }


async def so_far(home: Home, run: str | None, clock: Clock) -> RunSoFar:
    """One run, for whoever watches how it goes on; the newest if none is named."""
    name = await chosen(home, run)
    journal = await opened(await home.runs.lines(name), clock)
    plan = await readable_plan(home, folded(name, journal.entries), clock)
    return RunSoFar(run=name, plan=plan, entries=journal.entries)


async def readable_plan(home: Home, state: RunState, clock: Clock) -> Plan:
    """The plan of a run; without steps where a later or earlier program wrote another form."""
    try:
        return read_plan(await home.runs.plan(state.run), state.run)
    except Refused:
        return Plan(cluster=state.cluster, made_at=clock.now(), steps=())


async def chosen(home: Home, run: str | None) -> str:
    """The run that is meant: the one named, or the newest. `NotFound` where there is none."""
    known = await home.runs.listed()
    if run is None and known:
        return known[-1]
    if run is None or run not in known:
        raise NotFound(problems.no_such_run(run or "yet", known))
    return run


async def _row(home: Home, run: str, clock: Clock) -> RunRow:
    state, plan = await _read(home, run, clock)
    return _row_of(state, plan)


def _views(state: RunState, plan: Plan) -> Iterator[StepView]:
    told = {step.id: step.action.summary for step in plan.steps}
    for name in (*told, *(one for one in state.steps if one not in told)):
        yield StepView(id=name, summary=told.get(name, ""), state=state.step(name))


def _row_of(state: RunState, plan: Plan) -> RunRow:
    return RunRow(
        run=state.run,
        cluster=plan.cluster,
        result=_result(state.result),
        started=state.accepted,
        last=state.last,
        done=sum(state.is_done(name) for name in state.steps),
        steps=max(len(plan.steps), len(state.steps)),
        held=len(state.held),
        by=state.by,
    )


def _result(result: Result | None) -> str:
    return "open" if result is None else result.value


async def _read(home: Home, run: str, clock: Clock) -> tuple[RunState, Plan]:
    journal = await opened(await home.runs.lines(run), clock)
    state = folded(run, journal.entries)
    return state, await readable_plan(home, state, clock)
