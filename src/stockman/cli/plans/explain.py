"""One step of a plan in full: `plan --explain STEP`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from stockman.cli.output import Output, show
from stockman.cli.plans.data import step_data
from stockman.cli.terminal.durations import format_duration, format_estimate
from stockman.cli.terminal.screen import Screen
from stockman.cli.terminal.styles import escape_control
from stockman.cli.terminal.tables import wrap
from stockman.engine.estimates import critical_path, seconds_to_end
from stockman.steps.plan import Plan
from stockman.steps.step import Step

_LABEL = 12
_NARROWEST = 16
_NOTHING = "nothing"


def show_step(plan: Plan, name: str, output: Output) -> None:
    """Print a step to stdout; `Refused` where the plan has none of this id."""
    step = plan.step(name)
    show(
        step_details_data(plan, step),
        kind="PlanStep",
        output=output,
        human=lambda _, screen: step_details(plan, step, screen),
    )


def step_details_data(plan: Plan, step: Step) -> dict[str, Any]:
    """A step for programs, with who needs it and how much waits for it."""
    return {
        **step_data(plan, step),
        "needed_by": [one.id for one in _dependents(plan, step)],
        "seconds_until_end": seconds_to_end(plan)[step.id],
        "on_critical_path": step in critical_path(plan),
    }


def step_details(plan: Plan, step: Step, screen: Screen) -> Iterator[str]:
    """A step for people."""
    yield f"step {screen.paint(escape_control(step.id), 'name')}"
    for label, lines in _facts(plan, step):
        yield from _fact(label, lines, screen)
    style = "error" if step.action.destroys else ""
    yield from _fact("destroys", [step.action.destroys or _NOTHING], screen, style)


def _facts(plan: Plan, step: Step) -> Iterator[tuple[str, list[str]]]:
    yield "does", [step.action.summary]
    yield "why", [step.reason or "others need it"]
    yield "stage", [step.stage.value + (f", for {step.node}" if step.node else "")]
    yield "needs", [_step_name(plan.step(need)) for need in step.needs] or [_NOTHING]
    yield "needed by", [_step_name(one) for one in _dependents(plan, step)] or [_NOTHING]
    yield "gates", [gate.summary for gate in step.gates] or ["none"]
    yield (
        "holds",
        [_hold_text(plan, step, hold.part_key, hold.summary) for hold in step.holds] or [_NOTHING],
    )
    yield "lanes", [_lane_text(lane, plan.lanes.get(lane, 1)) for lane in step.lanes] or ["none"]
    yield "takes", [_duration_text(plan, step)]
    yield "deadline", [f"{format_duration(step.deadline)} from its start, gates included"]
    yield "retry", [_retry(step)]
    yield "touches", list(step.action.touches) or [_NOTHING]


def _dependents(plan: Plan, step: Step) -> list[Step]:
    return [one for one in plan.steps if step.id in one.needs]


def _step_name(step: Step) -> str:
    return f"{step.id} ({step.action.summary})"


def _hold_text(plan: Plan, step: Step, key: str, summary: str) -> str:
    others = [
        one.id
        for one in plan.steps
        if one.id != step.id and any(hold.part_key == key for hold in one.holds)
    ]
    return f"{summary}; also for {', '.join(others)}" if others else summary


def _lane_text(name: str, width: int) -> str:
    return f"{name}, {'one step' if width == 1 else f'{width} steps'} at a time"


def _duration_text(plan: Plan, step: Step) -> str:
    told = f"about {format_estimate(step.seconds)}"
    after = seconds_to_end(plan)[step.id] - step.seconds
    if after:
        told += f", and what waits for it {format_estimate(after)} more"
    return told + (", on the longest chain" if step in critical_path(plan) else "")


def _retry(step: Step) -> str:
    retry = step.retry
    if retry.attempts == 1:
        return "tried once"
    return (
        f"up to {retry.attempts} attempts when nobody answers, with waits of"
        f" {retry.first_wait:g}s to {retry.longest_wait:g}s"
    )


def _fact(label: str, lines: Iterable[str], screen: Screen, style: str = "") -> Iterator[str]:
    start = f"  {label}:".ljust(_LABEL + 1)
    for line in lines:
        for part in _fit_fact(line, screen):
            yield screen.paint(start, "faint") + screen.paint(part, style)
            start = " " * (_LABEL + 1)


def _fit_fact(text: str, screen: Screen) -> list[str]:
    shown = escape_control(text)
    if screen.width is None:
        return [shown]
    return wrap(shown, max(screen.width - _LABEL - 1, _NARROWEST))
