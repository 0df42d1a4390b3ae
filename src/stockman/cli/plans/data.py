"""A plan as programs get it: `kind: Plan` and `kind: PlanStep`.

Fields are added, never renamed or removed. A plan that can be given to `apply` is another
thing, see `steps/plan_file.py`; both have the same digest.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from stockman.cli.problems import problem_data
from stockman.engine.estimates import critical_path, seconds_left
from stockman.engine.state import RunState
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.planning.change import Change, ChangeKind
from stockman.steps.plan import Plan, plan_digest
from stockman.steps.step import Stage, Step


@record
class PlanView:
    """A plan with what is known beside it."""

    plan: Plan
    changes: tuple[Change, ...] = ()
    """Empty: it was read from a file, which has steps only."""
    warnings: tuple[Problem, ...] = ()
    errors: tuple[Problem, ...] = ()
    """Why it must not be carried out. Empty: it may be."""


def estimate(plan: Plan) -> float:
    """Seconds: the critical path, or what its lanes allow if that is more."""
    return seconds_left(plan, RunState(run=""), plan.made_at)


def plan_data(view: PlanView) -> dict[str, Any]:
    """All of a plan."""
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
            "stages": [one.value for one in Stage if any(s.stage is one for s in plan.steps)],
            "seconds": estimate(plan),
        },
        "destroys": list(dict.fromkeys(plan.destroys)),
        "changes": [_change_data(one) for one in view.changes],
        "steps": [step_data(plan, step) for step in plan.steps],
        "critical_path": [step.id for step in critical_path(plan)],
        "lanes": dict(plan.lanes),
        "warnings": [problem_data(one) for one in view.warnings],
        "problems": [problem_data(one) for one in view.errors],
    }


def step_data(plan: Plan, step: Step) -> dict[str, Any]:
    """One step of it."""
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
        "gates": [{"kind": one.kind, "what": one.summary} for one in step.gates],
        "holds": [{"kind": one.kind, "what": one.summary} for one in step.holds],
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
"""What `plan -o json` has besides: steps and problems come as events."""


def plan_events(view: PlanView, at: datetime) -> Iterator[str]:
    """A line for the plan, and one for each of its warnings."""
    told = {key: value for key, value in plan_data(view).items() if key not in _STEP_KEYS}
    yield _line("planned", at, told)
    yield from problem_events(view.warnings, at)


def problem_events(problems: Iterable[Problem], at: datetime) -> Iterator[str]:
    """A line for each problem: `warning`, or `error` where nothing was carried out for it."""
    for one in problems:
        yield _line(one.severity.value, at, {"problem": problem_data(one)})


def _line(event: str, at: datetime, data: Mapping[str, object]) -> str:
    body = {"number": 0, "at": at.isoformat(), "event": event, "step": "", "data": data}
    return json.dumps(body, separators=(",", ":"), ensure_ascii=False)
