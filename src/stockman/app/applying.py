"""Plans carried out: made a moment ago, or read from a file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from stockman.app.plans import Planned
from stockman.app.session import Session
from stockman.engine.carrying_out import Way, begin
from stockman.engine.context import Settings
from stockman.engine.executor import Outcome
from stockman.engine.journal import Watcher
from stockman.engine.state import Progress
from stockman.engine.stop import Stop
from stockman.model.errors import Refused
from stockman.model.parallelism import MAX_PARALLEL
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.steps.plan import Plan
from stockman.steps.plan_file import read_plan
from stockman.steps.plan_problems import unreadable

PUSHED = "kubernetes/pushed"
"""The step at which a run ends where the user has to commit and push first."""


@record
class Manner:
    """How a plan is carried out."""

    by: str
    """Who does it, for people."""
    stop: Stop
    watchers: tuple[Watcher, ...] = ()
    max_parallel: int = MAX_PARALLEL


async def applied(session: Session, plan: Plan, manner: Manner) -> Outcome:
    """Carry out a plan; `Refused` where what it touches moved since it was made."""
    way = Way(
        by=manner.by,
        stop=manner.stop,
        settings=Settings(max_parallel=manner.max_parallel),
        watchers=manner.watchers,
        fingerprint=session.planner.fingerprint,
    )
    return await begin(session.home, plan, session.ports, way)


def saved_plan(path: Path) -> Plan:
    """A plan that was written with `plan --out`."""
    try:
        return read_plan(path.read_text("utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise Refused(unreadable(str(path), why or type(error).__name__)) from None


def check_saved(plan: Plan, now: Planned) -> None:
    """`Refused` where a plan was made for other files than there are now."""
    if plan.desired != now.plan.desired or plan.cluster != now.plan.cluster:
        raise Refused(outdated(plan.cluster))
    errors: Iterable[Problem] = now.problems.errors
    for problem in errors:
        raise Refused(problem)


def waits_for_push(outcome: Outcome) -> bool:
    """Whether a run ended because the user has to commit and push what was rendered."""
    return outcome.state.step(PUSHED).progress is Progress.FAILED


def outdated(cluster: str) -> Problem:
    return Problem(
        code="plan.outdated",
        what=f"the plan was made for another configuration of {cluster}",
        why="the files changed since it was made",
        fix="make it again: `stockman plan --out FILE`",
    )
