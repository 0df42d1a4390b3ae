"""Execute plans, new or read from a file."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from stockman.app.runs.plans import PlanOptions
from stockman.app.runs.session import Session
from stockman.engine.context import RunSettings, StopRequest
from stockman.engine.executor import RunOutcome
from stockman.engine.journal import Watcher, open_journal
from stockman.engine.lifecycle import RunHome, RunOptions, start_run
from stockman.engine.state import StepProgress, fold_entries
from stockman.model.errors import Refused
from stockman.model.parallelism import MAX_PARALLEL
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.planning.planned import Planned
from stockman.ports.system import Clock
from stockman.steps.plan import Plan, parse_plan
from stockman.steps.plan_problems import invalid_plan


@contextmanager
def interruptible(stop: StopRequest) -> Iterator[None]:
    """Handle SIGINT and SIGTERM: stop after the running steps, or at once the second time."""
    loop = asyncio.get_running_loop()
    signals = (signal.SIGINT, signal.SIGTERM)
    for number in signals:
        loop.add_signal_handler(number, stop.request)
    try:
        yield
    finally:
        for number in signals:
            loop.remove_signal_handler(number)


T = TypeVar("T")
MOVED = "plan.moved"
TOO_EARLY = "run.too-early"
_PLANS = 3
"""How often a plan is made until it is still valid when it starts."""
PUSHED = "kubernetes/pushed"
"""The step at which a run pauses until the user commits and pushes."""


@record
class ApplyOptions:
    """How a plan is executed."""

    by: str
    """Who runs it, for display."""
    stop: StopRequest
    watchers: tuple[Watcher, ...] = ()
    max_parallel: int = MAX_PARALLEL


async def plan_and_execute(
    session: Session, options: PlanOptions, carried_out: Callable[[Planned], Awaitable[T]]
) -> T:
    """Make a plan and execute it.

    If the observed state changes before it starts, as after a killed run, the plan is made again a
    few times.
    """
    for _ in range(_PLANS - 1):
        try:
            return await carried_out(await session.plan(options))
        except Refused as error:
            if error.problem.code != MOVED:
                raise
    return await carried_out(await session.plan(options))


async def is_left_open(home: RunHome, clock: Clock) -> bool:
    """Whether the last run is unfinished and may still hold something."""
    listed = await home.runs.list_runs()
    if not listed:
        return False
    journal = await open_journal(await home.runs.lines(listed[-1]), clock)
    result = fold_entries(listed[-1], journal.entries).result
    return result is None or not result.is_final


async def execute_plan(session: Session, plan: Plan, manner: ApplyOptions) -> RunOutcome:
    """Execute a plan. Raises `Refused` if the state it depends on has changed."""
    run_options = RunOptions(
        by=manner.by,
        stop=manner.stop,
        settings=RunSettings(max_parallel=manner.max_parallel),
        watchers=manner.watchers,
        fingerprint=session.planner.fingerprint,
    )
    return await start_run(session.home, plan, session.ports, run_options)


def read_saved_plan(path: Path) -> Plan:
    """Read a plan written with `plan --out`."""
    try:
        return parse_plan(path.read_text("utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise Refused(invalid_plan(str(path), why or type(error).__name__)) from None


def check_saved_plan(plan: Plan, now: Planned) -> None:
    """Raise `Refused` if the files have changed since the plan was made."""
    if plan.desired != now.plan.desired or plan.cluster != now.plan.cluster:
        raise Refused(stale_plan(plan.cluster))
    errors: Iterable[Problem] = now.problems.errors
    for problem in errors:
        raise Refused(problem)


def waits_for_push(outcome: RunOutcome) -> bool:
    """Whether a run paused until the user commits and pushes."""
    return outcome.state.step(PUSHED).progress is StepProgress.FAILED


def waits_for_window(outcome: RunOutcome) -> bool:
    """Whether only steps that wait for a maintenance window remain."""
    return bool(outcome.problems) and all(problem.code == TOO_EARLY for problem in outcome.problems)


def stale_plan(cluster: str) -> Problem:
    return Problem(
        code="plan.outdated",
        what=f"the plan was made for another configuration of {cluster}",
        why="the files changed since it was made",
        fix="make it again: `stockman plan --out FILE`",
    )
