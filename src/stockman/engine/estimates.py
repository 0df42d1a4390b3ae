"""Estimates: the critical path of a plan, and when a run ends."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from stockman.engine.state import RunState, StepProgress
from stockman.steps.plan import Plan
from stockman.steps.step import Step


def seconds_to_end(plan: Plan) -> dict[str, float]:
    """Return for each step the seconds from its start until all steps that need it are done."""
    after: dict[str, float] = {}
    for step in reversed(plan.steps):
        seconds = step.seconds + after.get(step.id, 0.0)
        for need in step.needs:
            after[need] = max(after.get(need, 0.0), seconds)
    return {step.id: step.seconds + after.get(step.id, 0.0) for step in plan.steps}


def critical_path(plan: Plan) -> tuple[Step, ...]:
    """Return the longest chain of steps, in order."""
    seconds = seconds_to_end(plan)
    by_id = {step.id: step for step in plan.steps}
    starts = [step for step in plan.steps if not step.needs]
    path: list[Step] = []
    while starts:
        longest = max(starts, key=lambda step: seconds[step.id])
        path.append(longest)
        starts = [step for step in by_id.values() if longest.id in step.needs]
    return tuple(path)


def seconds_left(plan: Plan, state: RunState, now: datetime) -> float:
    """Return the seconds until the run ends, by the critical path or the busiest lane."""
    left = {step.id: _step_seconds_left(step, state, now) for step in plan.steps}
    ends: dict[str, float] = {}
    for step in plan.steps:
        ends[step.id] = left[step.id] + max((ends[need] for need in step.needs), default=0.0)
    return max([*ends.values(), *_lane_seconds(plan, left).values()], default=0.0)


def estimate_end(plan: Plan, state: RunState, now: datetime) -> datetime:
    """Return when the run ends, by the estimates of its steps."""
    return now + timedelta(seconds=seconds_left(plan, state, now))


def _step_seconds_left(step: Step, state: RunState, now: datetime) -> float:
    step_state = state.step(step.id)
    if step_state.progress is StepProgress.DONE:
        return 0.0
    if step_state.progress is StepProgress.RUNNING and step_state.started is not None:
        return max(step.seconds - (now - step_state.started).total_seconds(), 0.0)
    return step.seconds


def _lane_seconds(plan: Plan, left: Mapping[str, float]) -> dict[str, float]:
    """Return how many seconds each lane is busy."""
    busy: dict[str, float] = {}
    for step in plan.steps:
        for lane in step.lanes:
            width = plan.lanes.get(lane, 1)
            busy[lane] = busy.get(lane, 0.0) + left[step.id] / width
    return busy
