"""Where runs are stored; list, show and export them."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from datetime import datetime
from getpass import getuser
from pathlib import Path

from stockman.app.workspace.validation import load_desired
from stockman.engine import problems
from stockman.engine.journal import JournalEntry, open_journal
from stockman.engine.lifecycle import RunHome
from stockman.engine.local_lock import LocalLock, LockProcess, process_start_time
from stockman.engine.problems import lock_unreadable
from stockman.engine.runs import LocalRunStore
from stockman.engine.state import (
    RunResult,
    RunState,
    StepState,
    TakenHold,
    fold_entries,
    seconds_left,
)
from stockman.model.errors import NotFound, Refused
from stockman.model.policies import Lock
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.ports.system import Clock, Timekeeper
from stockman.steps.plan import Plan, parse_plan
from stockman.steps.serialization import to_json

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
    """Number of finished steps."""
    steps: int
    held: int
    """Number of holds that it has not released."""
    by: str


@record
class StepView:
    """A step of a run and its state."""

    id: str
    summary: str
    state: StepState


@record
class RunView:
    """A run with all details."""

    run: RunRow
    steps: tuple[StepView, ...]
    """In the order of the plan."""
    held: tuple[TakenHold, ...]
    notes: tuple[str, ...]
    seconds_left: float
    """Estimated duration of the remaining steps."""


@record
class RecordedRun:
    """Plan and journal of a run that is about to be resumed."""

    run: str
    plan: Plan
    """Without steps if this version cannot read it."""
    entries: tuple[JournalEntry, ...]


async def list_runs(home: RunHome, clock: Clock) -> tuple[RunRow, ...]:
    """Return every run, oldest first."""
    return tuple([await _row(home, run, clock) for run in await home.runs.list_runs()])


async def show_run(home: RunHome, run: str | None, clock: Clock) -> RunView:
    """Return one run, by default the newest."""
    name = await choose_run(home, run)
    state, plan = await _read(home, name, clock)
    return RunView(
        run=_row_of(state, plan),
        steps=tuple(_step_views(state, plan)),
        held=tuple(state.held.values()),
        notes=state.notes,
        seconds_left=seconds_left(plan, state, clock.now()),
    )


async def export_run(home: RunHome, run: str | None, clock: Clock) -> dict[str, object]:
    """Return plan and journal of a run as JSON."""
    name = await choose_run(home, run)
    journal = await open_journal(await home.runs.lines(name), clock)
    return {
        "schema": EXPORT_SCHEMA,
        "run": name,
        "plan": json.loads(await home.runs.plan(name)),
        "journal": [to_json(entry) for entry in journal.entries],
    }


async def load_run(home: RunHome, run: str | None, clock: Clock) -> RecordedRun:
    """Return plan and journal of one run, by default the newest."""
    name = await choose_run(home, run)
    journal = await open_journal(await home.runs.lines(name), clock)
    plan = await load_plan(home, fold_entries(name, journal.entries), clock)
    return RecordedRun(run=name, plan=plan, entries=journal.entries)


async def load_plan(home: RunHome, state: RunState, clock: Clock) -> Plan:
    """Return the plan of a run; without steps if another version of stockman wrote it."""
    try:
        return parse_plan(await home.runs.plan(state.run), state.run)
    except Refused:
        return Plan(cluster=state.cluster, made_at=clock.now(), steps=())


async def choose_run(home: RunHome, run: str | None) -> str:
    """Return the named run or the newest. Raises `NotFound` if there is none."""
    known = await home.runs.list_runs()
    if run is None and known:
        return known[-1]
    if run is None or run not in known:
        raise NotFound(problems.no_such_run(run or "yet", known))
    return run


async def _row(home: RunHome, run: str, clock: Clock) -> RunRow:
    state, plan = await _read(home, run, clock)
    return _row_of(state, plan)


def _step_views(state: RunState, plan: Plan) -> Iterator[StepView]:
    summaries = {step.id: step.action.summary for step in plan.steps}
    for name in (*summaries, *(step for step in state.steps if step not in summaries)):
        yield StepView(id=name, summary=summaries.get(name, ""), state=state.step(name))


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


def _result(result: RunResult | None) -> str:
    return "open" if result is None else result.value


async def _read(home: RunHome, run: str, clock: Clock) -> tuple[RunState, Plan]:
    journal = await open_journal(await home.runs.lines(run), clock)
    state = fold_entries(run, journal.entries)
    return state, await load_plan(home, state, clock)


RUNS = ".stockman/runs"
_LOCAL = "local"
_KEY = "AWS_ACCESS_KEY_ID"
_SECRET = "AWS_SECRET_ACCESS_KEY"


@asynccontextmanager
async def open_run_store(
    directory: Path, environment: Mapping[str, str], clock: Timekeeper
) -> AsyncIterator[RunHome]:
    """Open the run store and lock of a directory's cluster."""
    desired = load_desired(directory)
    if desired.lock.home == _LOCAL:
        yield local_run_store(directory, clock)
        return

    from stockman.adapters.s3 import S3Objects
    from stockman.engine.object_lock import ObjectLock
    from stockman.engine.runs import ObjectRunStore
    from stockman.s3.credentials import S3Credentials
    from stockman.s3.location import S3Location

    lock = _with_secrets(desired.lock, directory, environment)
    bucket, _, prefix = lock.home.removeprefix("s3://").partition("/")
    name = desired.cluster.name if desired.cluster is not None else ""
    s3_place = S3Location(
        bucket=bucket, endpoint=lock.endpoint, region=lock.region, prefix=prefix.strip("/") or name
    )
    credentials = S3Credentials(
        access_key=_credential(lock.access_key, environment, _KEY, lock.home),
        secret_key=_credential(lock.secret_key, environment, _SECRET, lock.home),
    )
    async with S3Objects(s3_place, credentials, clock.now) as objects:
        yield RunHome(
            runs=ObjectRunStore(objects, clock),
            lock=ObjectLock(objects, clock, s3_place.shown("lock"), elapsed=elapsed_seconds),
        )


def elapsed_seconds() -> float:
    """Return seconds that never jump, including those in which the machine was suspended."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


def local_run_store(directory: Path, clock: Timekeeper) -> RunHome:
    """Return the run store and lock inside the directory."""
    folder = directory / RUNS
    return RunHome(
        runs=LocalRunStore(folder), lock=LocalLock(folder / "lock", clock, current_process())
    )


def current_process() -> LockProcess:
    """Return the identity of this process."""
    return LockProcess(
        host=platform.node(), pid=os.getpid(), started=process_start_time(os.getpid())
    )


def current_user() -> str:
    """Return the current user and host, shown when the lock is held."""
    process = current_process()
    try:
        user = getuser()
    except (KeyError, OSError):
        user = "somebody"
    return f"{user}@{process.host}, process {process.pid}"


def _with_secrets(lock: Lock, directory: Path, environment: Mapping[str, str]) -> Lock:
    from stockman.app.secrets.keyring import find_keyring
    from stockman.app.secrets.references import ReferenceContext, resolve_section

    keyring = find_keyring(directory, environment)
    context = ReferenceContext(directory=directory, keyring=keyring, environment=environment)
    resolved, problems = resolve_section(lock, context)
    for problem in problems.errors:
        raise Refused(problem)
    return resolved


def _credential(
    secret: Secret | None, environment: Mapping[str, str], name: str, home: str
) -> Secret:
    if secret is not None:
        return secret
    if not environment.get(name):
        why = f"the configuration gives no key for it, and {name} is not set"
        raise Refused(lock_unreadable(home, why))
    return Secret(environment[name], resolved=True)
