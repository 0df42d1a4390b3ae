"""One step of a plan in full: `plan --explain STEP`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from stockman.cli.durations import about, duration
from stockman.cli.output import Output, show
from stockman.cli.paint import visible
from stockman.cli.plan_data import step_data
from stockman.cli.screen import Screen
from stockman.cli.tables import wrapped
from stockman.engine.times import critical_path, tails
from stockman.steps.plan import Plan
from stockman.steps.step import Step

_LABEL = 12
_NARROWEST = 16
_NOTHING = "nothing"


def show_step(plan: Plan, name: str, output: Output) -> None:
    """Print a step to stdout; `Refused` where the plan has none of this id."""
    step = plan.step(name)
    show(
        explained_data(plan, step),
        kind="PlanStep",
        output=output,
        human=lambda _, screen: explained(plan, step, screen),
    )


def explained_data(plan: Plan, step: Step) -> dict[str, Any]:
    """A step for programs, with who needs it and how much waits for it."""
    return {
        **step_data(plan, step),
        "needed_by": [one.id for one in _needing(plan, step)],
        "seconds_until_end": tails(plan)[step.id],
        "on_critical_path": step in critical_path(plan),
    }


def explained(plan: Plan, step: Step, screen: Screen) -> Iterator[str]:
    """A step for people."""
    yield f"step {screen.paint(visible(step.id), 'name')}"
    for label, lines in _facts(plan, step):
        yield from _fact(label, lines, screen)
    style = "error" if step.action.destroys else ""
    yield from _fact("destroys", [step.action.destroys or _NOTHING], screen, style)


def _facts(plan: Plan, step: Step) -> Iterator[tuple[str, list[str]]]:
    yield "does", [step.action.summary]
    yield "why", [step.reason or "others need it"]
    yield "stage", [step.stage.value + (f", for {step.node}" if step.node else "")]
    yield "needs", [_named(plan.step(need)) for need in step.needs] or [_NOTHING]
    yield "needed by", [_named(one) for one in _needing(plan, step)] or [_NOTHING]
    yield "gates", [gate.summary for gate in step.gates] or ["none"]
    yield (
        "holds",
        [_held(plan, step, hold.part_key, hold.summary) for hold in step.holds] or [_NOTHING],
    )
    yield "lanes", [_lane(lane, plan.lanes.get(lane, 1)) for lane in step.lanes] or ["none"]
    yield "takes", [_takes(plan, step)]
    yield "deadline", [f"{duration(step.deadline)} from its start, gates included"]
    yield "retry", [_retry(step)]
    yield "touches", list(step.action.touches) or [_NOTHING]


def _needing(plan: Plan, step: Step) -> list[Step]:
    return [one for one in plan.steps if step.id in one.needs]


def _named(step: Step) -> str:
    return f"{step.id} ({step.action.summary})"


def _held(plan: Plan, step: Step, key: str, summary: str) -> str:
    others = [
        one.id
        for one in plan.steps
        if one.id != step.id and any(hold.part_key == key for hold in one.holds)
    ]
    return f"{summary}; also for {', '.join(others)}" if others else summary


def _lane(name: str, width: int) -> str:
    return f"{name}, {'one step' if width == 1 else f'{width} steps'} at a time"


def _takes(plan: Plan, step: Step) -> str:
    told = f"about {about(step.seconds)}"
    after = tails(plan)[step.id] - step.seconds
    if after:
        told += f", and what waits for it {about(after)} more"
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
        for part in _fitted(line, screen):
            yield screen.paint(start, "faint") + screen.paint(part, style)
            start = " " * (_LABEL + 1)


def _fitted(text: str, screen: Screen) -> list[str]:
    shown = visible(text)
    if screen.width is None:
        return [shown]
    return wrapped(shown, max(screen.width - _LABEL - 1, _NARROWEST))
