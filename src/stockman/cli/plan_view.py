"""A plan as people read it: what changes, why, what is lost, how long it takes.

show_plan(PlanView(plan=plan, changes=changes, warnings=warnings), output)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from stockman.cli.durations import about
from stockman.cli.output import Output, show
from stockman.cli.paint import visible
from stockman.cli.plan_data import PlanView, estimate, plan_data
from stockman.cli.problems import problem_lines
from stockman.cli.screen import Screen, current
from stockman.cli.tables import Cell, table, wrapped
from stockman.engine.times import critical_path
from stockman.model.problem import Problems
from stockman.model.record import record
from stockman.planning.change import Mark
from stockman.steps.plan import Plan
from stockman.steps.step import Stage, Step

_STYLES = {Mark.ADD: "good", Mark.CHANGE: "warning", Mark.REMOVE: "error"}
_VERBS = {Mark.ADD: "add", Mark.CHANGE: "change", Mark.REMOVE: "remove"}
_STEP = "*"
"""In front of a step that no change stands for: of a saved plan, or of changes elsewhere."""
_CLUSTER = "the whole cluster"
_NARROWEST = 16


@record
class _Line:
    """A change, or a step where no changes are known."""

    what: str
    why: str
    destroys: str
    stage: Stage
    node: str
    mark: Mark | None


def show_plan(view: PlanView, output: Output) -> None:
    """Print a plan to stdout; warnings go to stderr unless a program reads."""
    data = {} if output is Output.TABLE else plan_data(view)
    show(data, kind="Plan", output=output, human=lambda _, screen: plan_lines(view, screen))
    if view.warnings and output is Output.TABLE:
        screen = current()
        lines = problem_lines(view.warnings, paint=screen.notes_paint, width=screen.notes_width)
        screen.complain(["", *lines])


def show_refused(plan: Plan, problems: Problems, output: Output) -> None:
    """Print why a plan must not be carried out: to stderr, and to stdout for programs."""
    screen = current()
    if output is not Output.TABLE:
        view = PlanView(
            plan=replace(plan, steps=()),
            warnings=tuple(problems.warnings),
            errors=tuple(problems.errors),
        )
        show(plan_data(view), kind="Plan", output=output, human=lambda _, __: ())
    screen.complain(problem_lines(problems, paint=screen.notes_paint, width=screen.notes_width))


def _nothing(view: PlanView) -> str:
    if any(one.code == "node.unknown" for one in view.warnings):
        return "nothing to do in what could be seen; what could not is told as a warning"
    return "nothing to do: everything is as the configuration says"


def plan_lines(view: PlanView, screen: Screen) -> Iterator[str]:
    """All of it: stages with their changes, with `-v` the steps, what is lost, and a summary."""
    if view.plan.is_empty:
        yield _nothing(view)
        return
    lines = _lines(view)
    for stage in Stage:
        of_stage = [line for line in lines if line.stage is stage]
        if of_stage or any(step.stage is stage for step in view.plan.steps):
            yield from _stage(view.plan, stage, of_stage, screen)
            yield ""
    if screen.verbosity:
        yield from _steps(view.plan, screen)
        yield ""
    yield from _destroyed(view.plan, screen)
    yield from _fitted(summary(view), screen, 0)


def summary(view: PlanView) -> str:
    """The whole plan in a line."""
    steps = _counted(len(view.plan.steps), "step")
    long = f"about {about(estimate(view.plan))}"
    marks = Counter(change.mark for change in view.changes)
    told = ", ".join(f"{marks[mark]} to {verb}" for mark, verb in _VERBS.items() if marks[mark])
    return f"{told}: {steps}, {long}" if told else f"{steps}, {long}"


def _lines(view: PlanView) -> list[_Line]:
    if view.changes:
        return [
            _Line(
                what=one.what,
                why=one.why,
                destroys=one.destroys,
                stage=one.stage,
                node=one.node,
                mark=one.mark,
            )
            for one in view.changes
        ]
    return [_of_step(step) for step in view.plan.steps]


def _of_step(step: Step) -> _Line:
    return _Line(
        what=step.action.summary,
        why=step.reason,
        destroys=step.action.destroys,
        stage=step.stage,
        node=step.node,
        mark=None,
    )


def _stage(plan: Plan, stage: Stage, lines: Sequence[_Line], screen: Screen) -> Iterator[str]:
    steps = [step for step in plan.steps if step.stage is stage]
    gates = sum(len(step.gates) for step in steps)
    told = _counted(len(steps), "step") + (f", {_counted(gates, 'gate')}" if gates else "")
    yield screen.paint(stage.value, "heading") + screen.paint(f" ({told})", "faint")
    by_node: dict[str, list[_Line]] = {}
    for line in lines or [_of_step(step) for step in steps]:
        by_node.setdefault(line.node, []).append(line)
    for node in sorted(by_node, key=bool):
        yield f"  {screen.paint(visible(node or _CLUSTER), 'name')}"
        for line in by_node[node]:
            yield from _change(line, screen)


def _change(line: _Line, screen: Screen) -> Iterator[str]:
    mark, style = _STEP, ""
    if line.mark is not None:
        mark, style = line.mark.value, _STYLES[line.mark]
    first, *rest = _fitted(line.what, screen, 6)
    yield f"    {screen.paint(mark, style)} {screen.paint(first, style)}"
    yield from (f"      {screen.paint(part, style)}" for part in rest)
    if line.why:
        yield from (f"        {part}" for part in _fitted(line.why, screen, 8))
    if line.destroys:
        told = _fitted(f"destroys {line.destroys}", screen, 8)
        yield from (f"        {screen.paint(part, 'error')}" for part in told)


def _steps(plan: Plan, screen: Screen) -> Iterator[str]:
    headers = ("STEP", "WHAT", "NEEDS", "GATES", "ABOUT")
    rows = [
        (
            Cell(step.id, "name"),
            step.action.summary,
            ", ".join(step.needs),
            "; ".join(gate.summary for gate in step.gates),
            about(step.seconds),
        )
        for step in plan.steps
    ]
    yield from table(headers, rows, width=screen.width, paint=screen.paint)
    chain = " -> ".join(step.id for step in critical_path(plan))
    yield ""
    yield from _fitted(f"longest chain: {chain}", screen, 0)


def _destroyed(plan: Plan, screen: Screen) -> Iterator[str]:
    if found := dict.fromkeys(plan.destroys):
        yield screen.paint("lost for good:", "error")
        for one in found:
            first, *rest = _fitted(one, screen, 4)
            yield f"  - {first}"
            yield from (f"    {part}" for part in rest)
        yield ""


def _fitted(text: str, screen: Screen, indent: int) -> list[str]:
    shown = visible(text)
    if screen.width is None:
        return [shown]
    return wrapped(shown, max(screen.width - indent, _NARROWEST))


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
