"""A plan as people read it: what changes, why, what is lost, how long it takes.

show_plan(PlanView(plan=plan, changes=changes, warnings=warnings), output)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from stockman.cli.output import Output, show
from stockman.cli.plans.data import PlanView, estimate, plan_data
from stockman.cli.problems import problem_lines
from stockman.cli.terminal.durations import format_estimate
from stockman.cli.terminal.screen import Screen, current_screen
from stockman.cli.terminal.styles import escape_control
from stockman.cli.terminal.tables import Cell, table, wrap
from stockman.engine.estimates import critical_path
from stockman.model.problem import Problems
from stockman.model.record import record
from stockman.planning.change import ChangeKind
from stockman.planning.observed.systems import SystemCalls
from stockman.steps.plan import Plan
from stockman.steps.step import Stage, Step

_STYLES = {ChangeKind.ADD: "good", ChangeKind.CHANGE: "warning", ChangeKind.REMOVE: "error"}
_VERBS = {ChangeKind.ADD: "add", ChangeKind.CHANGE: "change", ChangeKind.REMOVE: "remove"}
_STEP = "*"
"""In front of a step that no change stands for: of a saved plan, or of changes elsewhere."""
_CLUSTER = "the whole cluster"
_NARROWEST = 16


@record
class _PlanLine:
    """A change, or a step where no changes are known."""

    what: str
    why: str
    destroys: str
    stage: Stage
    node: str
    mark: ChangeKind | None


def show_plan(view: PlanView, output: Output) -> None:
    """Print a plan to stdout; warnings go to stderr unless a program reads."""
    data = {} if output is Output.TABLE else plan_data(view)
    show(data, kind="Plan", output=output, human=lambda _, screen: plan_lines(view, screen))
    if view.warnings and output is Output.TABLE:
        screen = current_screen()
        lines = problem_lines(view.warnings, paint=screen.notes_paint, width=screen.notes_width)
        screen.complain(["", *lines])


def show_refusal(plan: Plan, problems: Problems, output: Output) -> None:
    """Print why a plan must not be carried out: to stderr, and to stdout for programs."""
    screen = current_screen()
    if output is not Output.TABLE:
        view = PlanView(
            plan=replace(plan, steps=()),
            warnings=tuple(problems.warnings),
            errors=tuple(problems.errors),
        )
        show(plan_data(view), kind="Plan", output=output, human=lambda _, __: ())
    screen.complain(problem_lines(problems, paint=screen.notes_paint, width=screen.notes_width))


def _empty_plan_lines(view: PlanView) -> str:
    if any(one.code == "node.unknown" for one in view.warnings):
        return "nothing to do in what could be seen; what could not is told as a warning"
    return "nothing to do: everything is as the configuration says"


def plan_lines(view: PlanView, screen: Screen) -> Iterator[str]:
    """All of it: stages with their changes, with `-v` the steps, what is lost, and a summary."""
    if view.plan.is_empty:
        yield _empty_plan_lines(view)
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
    yield from _loss_lines(view.plan, screen)
    yield from _fit(plan_summary(view), screen, 0)


def plan_summary(view: PlanView) -> str:
    """The whole plan in a line."""
    steps = _count(len(view.plan.steps), "step")
    long = f"about {format_estimate(estimate(view.plan))}"
    marks = Counter(change.mark for change in view.changes)
    told = ", ".join(f"{marks[mark]} to {verb}" for mark, verb in _VERBS.items() if marks[mark])
    return f"{told}: {steps}, {long}" if told else f"{steps}, {long}"


def _lines(view: PlanView) -> list[_PlanLine]:
    if view.changes:
        return [
            _PlanLine(
                what=one.what,
                why=one.why,
                destroys=one.destroys,
                stage=one.stage,
                node=one.node,
                mark=one.mark,
            )
            for one in view.changes
        ]
    return [_line_of_step(step) for step in view.plan.steps]


def _line_of_step(step: Step) -> _PlanLine:
    return _PlanLine(
        what=step.action.summary,
        why=step.reason,
        destroys=step.action.destroys,
        stage=step.stage,
        node=step.node,
        mark=None,
    )


def _stage(plan: Plan, stage: Stage, lines: Sequence[_PlanLine], screen: Screen) -> Iterator[str]:
    steps = [step for step in plan.steps if step.stage is stage]
    gates = sum(len(step.gates) for step in steps)
    told = _count(len(steps), "step") + (f", {_count(gates, 'gate')}" if gates else "")
    yield screen.paint(stage.value, "heading") + screen.paint(f" ({told})", "faint")
    by_node: dict[str, list[_PlanLine]] = {}
    for line in lines or [_line_of_step(step) for step in steps]:
        by_node.setdefault(line.node, []).append(line)
    for node in sorted(by_node, key=bool):
        yield f"  {screen.paint(escape_control(node or _CLUSTER), 'name')}"
        for line in by_node[node]:
            yield from _change(line, screen)


def _change(line: _PlanLine, screen: Screen) -> Iterator[str]:
    mark, style = _STEP, ""
    if line.mark is not None:
        mark, style = line.mark.value, _STYLES[line.mark]
    first, *rest = _fit(line.what, screen, 6)
    yield f"    {screen.paint(mark, style)} {screen.paint(first, style)}"
    yield from (f"      {screen.paint(part, style)}" for part in rest)
    if line.why:
        yield from (f"        {part}" for part in _fit(line.why, screen, 8))
    if line.destroys:
        told = _fit(f"destroys {line.destroys}", screen, 8)
        yield from (f"        {screen.paint(part, 'error')}" for part in told)


def _steps(plan: Plan, screen: Screen) -> Iterator[str]:
    headers = ("STEP", "WHAT", "NEEDS", "GATES", "ABOUT")
    rows = [
        (
            Cell(step.id, "name"),
            step.action.summary,
            ", ".join(step.needs),
            "; ".join(gate.summary for gate in step.gates),
            format_estimate(step.seconds),
        )
        for step in plan.steps
    ]
    yield from table(headers, rows, width=screen.width, paint=screen.paint)
    chain = " -> ".join(step.id for step in critical_path(plan))
    yield ""
    yield from _fit(f"longest chain: {chain}", screen, 0)


def _loss_lines(plan: Plan, screen: Screen) -> Iterator[str]:
    if found := dict.fromkeys(plan.destroys):
        yield screen.paint("lost for good:", "error")
        for one in found:
            first, *rest = _fit(one, screen, 4)
            yield f"  - {first}"
            yield from (f"    {part}" for part in rest)
        yield ""


def _fit(text: str, screen: Screen, indent: int) -> list[str]:
    shown = escape_control(text)
    if screen.width is None:
        return [shown]
    return wrap(shown, max(screen.width - indent, _NARROWEST))


def _count(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def show_call_counts(calls: Sequence[SystemCalls], output: Output) -> None:
    """Print the calls to stdout."""
    data = {
        "systems": [
            {
                "system": one.system,
                "calls": one.calls,
                "of": dict(one.of),
                "grows": one.grows,
                "by_call": dict(one.by_call),
            }
            for one in calls
        ],
        "calls": sum(one.calls for one in calls),
    }
    show(data, kind="PlanStats", output=output, human=lambda _, on: call_count_lines(calls, on))


def call_count_lines(calls: Sequence[SystemCalls], screen: Screen) -> Iterator[str]:
    """A row for each system, what its number grows with, and with `-v` every kind of call."""
    rows: list[tuple[str | Cell, ...]] = []
    for one in calls:
        of = ", ".join(f"{count} {name}" for name, count in one.of.items())
        rows.append((Cell(one.system, "name"), str(one.calls), of, one.grows))
        if screen.verbosity:
            rows += [(f"  {name}", str(count)) for name, count in sorted(one.by_call.items())]
    rows.append(("all", str(sum(one.calls for one in calls))))
    headers = ("SYSTEM", "CALLS", "OF", "GROWS WITH")
    yield from table(headers, rows, width=screen.width, paint=screen.paint)


def destroy_question(plan: Plan) -> str:
    """What the user is asked; everything that is destroyed is in it, each on a line of its own."""
    steps = f"{len(plan.steps)} step{'' if len(plan.steps) == 1 else 's'}"
    go_on = f"carry out {steps} on cluster {escape_control(plan.cluster)}?"
    lost = [escape_control(one) for one in dict.fromkeys(plan.destroys)]
    match lost:
        case []:
            return go_on
        case [one]:
            return f"this destroys {one}, for good; {go_on}"
    return "\n".join(["this destroys for good:", *(f"  - {one}" for one in lost), go_on])
