"""What is known of a plan before its run begins: lines of JSON in the form of those of its journal.

They have the number 0, since no journal holds them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from stockman.cli.plan_data import PlanView, plan_data
from stockman.cli.problems import problem_data
from stockman.model.problem import Problem

_OF_STEPS = frozenset({"steps", "critical_path", "lanes", "warnings", "problems"})
"""What `plan -o json` has besides: steps and problems come as events."""


def plan_events(view: PlanView, at: datetime) -> Iterator[str]:
    """A line for the plan, and one for each of its warnings."""
    told = {key: value for key, value in plan_data(view).items() if key not in _OF_STEPS}
    yield _line("planned", at, told)
    yield from problem_events(view.warnings, at)


def problem_events(problems: Iterable[Problem], at: datetime) -> Iterator[str]:
    """A line for each problem: `warning`, or `error` where nothing was carried out for it."""
    for one in problems:
        yield _line(one.severity.value, at, {"problem": problem_data(one)})


def _line(event: str, at: datetime, data: Mapping[str, object]) -> str:
    body = {"number": 0, "at": at.isoformat(), "event": event, "step": "", "data": data}
    return json.dumps(body, separators=(",", ":"), ensure_ascii=False)
