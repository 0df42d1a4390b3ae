"""A plan as data: `kind: Plan` and `kind: PlanStep`.

Fields are added, never renamed or removed. The format of plan files for `apply` is different, see
`steps/plan_file.py`; both have the same digest.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from stockman.cli.problems import problem_data
from stockman.engine.state import RunState, critical_path, seconds_left
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.planning.change import Change, ChangeKind
from stockman.steps.plan import Plan, plan_digest
from stockman.steps.step import Stage, Step


@record
class PlanView:
    """A plan with its changes, warnings and errors."""

    plan: Plan
    changes: tuple[Change, ...] = ()
    """Empty: the plan was read from a file, which contains steps only."""
    warnings: tuple[Problem, ...] = ()
    errors: tuple[Problem, ...] = ()
    """Reasons why it must not be executed. Empty: it may be."""


def estimate(plan: Plan) -> float:
    """Return the estimated seconds: the longer of critical path and lane limits."""
    return seconds_left(plan, RunState(run=""), plan.made_at)


def plan_data(view: PlanView) -> dict[str, Any]:
    """Return a plan as data."""
    plan = view.plan
    marks = Counter(change.mark for change in view.changes)
    return {
        "cluster": plan.cluster,
        "made_at": plan.made_at.isoformat(),
        "digest": plan_digest(plan),
        "summary": {
            "add": marks[ChangeKind.ADD],
            "change": marks[ChangeKind.CHANGE],
            "remove": marks[ChangeKind.REMOVE],
            "steps": len(plan.steps),
            "stages": [stage.value for stage in Stage if any(s.stage is stage for s in plan.steps)],
            "seconds": estimate(plan),
        },
        "destroys": list(dict.fromkeys(plan.destroys)),
        "changes": [_change_data(change) for change in view.changes],
        "steps": [step_data(plan, step) for step in plan.steps],
        "critical_path": [step.id for step in critical_path(plan)],
        "lanes": dict(plan.lanes),
        "warnings": [problem_data(warning) for warning in view.warnings],
        "problems": [problem_data(error) for error in view.errors],
    }


def step_data(plan: Plan, step: Step) -> dict[str, Any]:
    """Return one step as data."""
    return {
        "id": step.id,
        "stage": step.stage.value,
        "node": step.node,
        "kind": step.action.kind,
        "does": step.action.summary,
        "why": step.reason,
        "destroys": step.action.destroys,
        "touches": list(step.action.touches),
        "needs": list(step.needs),
        "gates": [{"kind": gate.kind, "what": gate.summary} for gate in step.gates],
        "holds": [{"kind": hold.kind, "what": hold.summary} for hold in step.holds],
        "lanes": {lane: plan.lanes.get(lane, 1) for lane in step.lanes},
        "deadline": step.deadline,
        "retry": {
            "attempts": step.retry.attempts,
            "first_wait": step.retry.first_wait,
            "longest_wait": step.retry.longest_wait,
        },
        "seconds": step.seconds,
    }


def _change_data(change: Change) -> dict[str, Any]:
    return {
        "mark": change.mark.value,
        "what": change.what,
        "why": change.why,
        "stage": change.stage.value,
        "node": change.node,
        "destroys": change.destroys,
    }


_STEP_KEYS = frozenset({"steps", "critical_path", "lanes", "warnings", "problems"})
"""Keys of `plan -o json` that are printed as separate events."""


def plan_events(view: PlanView, at: datetime) -> Iterator[str]:
    """Return an event for the plan, and one for each of its warnings."""
    data = {key: value for key, value in plan_data(view).items() if key not in _STEP_KEYS}
    yield _line("planned", at, data)
    yield from problem_events(view.warnings, at)


def problem_events(problems: Iterable[Problem], at: datetime) -> Iterator[str]:
    """Return an event for each problem: `warning`, or `error` if nothing was executed because of
    it."""
    for problem in problems:
        yield _line(problem.severity.value, at, {"problem": problem_data(problem)})


def _line(event: str, at: datetime, data: Mapping[str, object]) -> str:
    body = {"number": 0, "at": at.isoformat(), "event": event, "step": "", "data": data}
    return json.dumps(body, separators=(",", ":"), ensure_ascii=False)
