"""Details of one step: `plan --explain STEP`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from stockman.cli.output import Output, show
from stockman.cli.plans.data import step_data
from stockman.cli.terminal.screen import Screen
from stockman.cli.terminal.styles import escape_control, format_duration, format_estimate
from stockman.cli.terminal.tables import wrap
from stockman.engine.estimates import critical_path, seconds_to_end
from stockman.steps.plan import Plan
from stockman.steps.step import Step

_LABEL = 12
_NARROWEST = 16
_NOTHING = "nothing"


def show_step(plan: Plan, name: str, output: Output) -> None:
    """Print the details of a step; raises `Refused` if the plan has no step with this ID."""
    step = plan.step(name)
    show(
        step_details_data(plan, step),
        kind="PlanStep",
        output=output,
        human=lambda _, screen: step_details(plan, step, screen),
    )


def step_details_data(plan: Plan, step: Step) -> dict[str, Any]:
    """Return a step as data, with its dependents and their total duration."""
    return {
        **step_data(plan, step),
        "needed_by": [dependent.id for dependent in _dependents(plan, step)],
        "seconds_until_end": seconds_to_end(plan)[step.id],
        "on_critical_path": step in critical_path(plan),
    }


def step_details(plan: Plan, step: Step, screen: Screen) -> Iterator[str]:
    """Return the details of a step as lines."""
    yield f"step {screen.paint(escape_control(step.id), 'name')}"
    for label, lines in _facts(plan, step):
        yield from _fact(label, lines, screen)
    style = "error" if step.action.destroys else ""
    yield from _fact("destroys", [step.action.destroys or _NOTHING], screen, style)


def _facts(plan: Plan, step: Step) -> Iterator[tuple[str, list[str]]]:
    yield "does", [step.action.summary]
    yield "why", [step.reason or "for its dependents"]
    yield "stage", [step.stage.value + (f", for {step.node}" if step.node else "")]
    yield "needs", [_step_name(plan.step(need)) for need in step.needs] or [_NOTHING]
    yield (
        "needed by",
        [_step_name(dependent) for dependent in _dependents(plan, step)] or [_NOTHING],
    )
    yield "gates", [gate.summary for gate in step.gates] or ["none"]
    yield (
        "holds",
        [_hold_text(plan, step, hold.part_key, hold.summary) for hold in step.holds] or [_NOTHING],
    )
    yield "lanes", [_lane_text(lane, plan.lanes.get(lane, 1)) for lane in step.lanes] or ["none"]
    yield "takes", [_duration_text(plan, step)]
    yield "deadline", [f"{format_duration(step.deadline)} from its start, including gates"]
    yield "retry", [_retry(step)]
    yield "touches", list(step.action.touches) or [_NOTHING]


def _dependents(plan: Plan, step: Step) -> list[Step]:
    return [other_step for other_step in plan.steps if step.id in other_step.needs]


def _step_name(step: Step) -> str:
    return f"{step.id} ({step.action.summary})"


def _hold_text(plan: Plan, step: Step, key: str, summary: str) -> str:
    nodes = [
        other_step.id
        for other_step in plan.steps
        if other_step.id != step.id and any(hold.part_key == key for hold in other_step.holds)
    ]
    return f"{summary}; also for {', '.join(nodes)}" if nodes else summary


def _lane_text(name: str, width: int) -> str:
    return f"{name}, {'one step' if width == 1 else f'{width} steps'} at a time"


def _duration_text(plan: Plan, step: Step) -> str:
    estimate = f"about {format_estimate(step.seconds)}"
    after = seconds_to_end(plan)[step.id] - step.seconds
    if after:
        estimate += f", and about {format_estimate(after)} more for its dependents"
    return estimate + (", on the critical path" if step in critical_path(plan) else "")


def _retry(step: Step) -> str:
    retry = step.retry
    if retry.attempts == 1:
        return "not retried"
    return (
        f"up to {retry.attempts} attempts if there is no answer, {retry.first_wait:g}s to "
        f"{retry.longest_wait:g}s apart"
    )


def _fact(label: str, lines: Iterable[str], screen: Screen, style: str = "") -> Iterator[str]:
    start = f"  {label}:".ljust(_LABEL + 1)
    for line in lines:
        for line_part in _fit_fact(line, screen):
            yield screen.paint(start, "faint") + screen.paint(line_part, style)
            start = " " * (_LABEL + 1)


def _fit_fact(text: str, screen: Screen) -> list[str]:
    shown = escape_control(text)
    if screen.width is None:
        return [shown]
    return wrap(shown, max(screen.width - _LABEL - 1, _NARROWEST))
