"""Show a plan: changes, reasons, what is destroyed, estimated time.

show_plan(PlanView(plan=plan, changes=changes, warnings=warnings), output)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from stockman.cli.output import Output, show
from stockman.cli.plans.data import PlanView, estimate, plan_data
from stockman.cli.problems import show_problems
from stockman.cli.terminal.screen import Screen, current_screen
from stockman.cli.terminal.styles import count_noun, escape_control, format_estimate
from stockman.cli.terminal.tables import Cell, table, wrap
from stockman.engine.state import critical_path
from stockman.model.problem import Problems
from stockman.model.record import record
from stockman.planning.change import ChangeKind
from stockman.planning.observed.systems import SystemCalls
from stockman.steps.plan import Plan
from stockman.steps.step import Stage, Step

_STYLES = {ChangeKind.ADD: "good", ChangeKind.CHANGE: "warning", ChangeKind.REMOVE: "error"}
_VERBS = {ChangeKind.ADD: "add", ChangeKind.CHANGE: "change", ChangeKind.REMOVE: "remove"}
_STEP = "*"
"""Mark of a step without known changes, as in a saved plan."""
_CLUSTER = "cluster"
_NARROWEST = 16


@record
class _PlanLine:
    """A change, or a step if its changes are not known."""

    what: str
    why: str
    destroys: str
    stage: Stage
    node: str
    mark: ChangeKind | None


def show_plan(view: PlanView, output: Output) -> None:
    """Print a plan to stdout; warnings go to stderr unless the output is data."""
    data = {} if output is Output.TABLE else plan_data(view)
    show(data, kind="Plan", output=output, human=lambda _, screen: plan_lines(view, screen))
    if view.warnings and output is Output.TABLE:
        current_screen().print_problems([""])
        show_problems(view.warnings)


def show_refusal(plan: Plan, problems: Problems, output: Output) -> None:
    """Print why a plan must not be executed: to stderr, and as data to stdout."""
    if output is not Output.TABLE:
        view = PlanView(
            plan=replace(plan, steps=()),
            warnings=tuple(problems.warnings),
            errors=tuple(problems.errors),
        )
        show(plan_data(view), kind="Plan", output=output, human=lambda _, __: ())
    show_problems(problems)


def _empty_plan_lines(view: PlanView) -> str:
    if any(warning.code == "node.unknown" for warning in view.warnings):
        return "No changes in the systems that could be read. The warnings list the others."
    return "No changes. The cluster matches the configuration."


def plan_lines(view: PlanView, screen: Screen) -> Iterator[str]:
    """Return all lines of a plan: changes by stage, steps with `-v`, losses, a summary."""
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
    """Summarize a plan in one line."""
    steps = count_noun(len(view.plan.steps), "step")
    long = f"about {format_estimate(estimate(view.plan))}"
    marks = Counter(change.mark for change in view.changes)
    counts = ", ".join(f"{marks[mark]} to {verb}" for mark, verb in _VERBS.items() if marks[mark])
    return f"{counts}: {steps}, {long}" if counts else f"{steps}, {long}"


def _lines(view: PlanView) -> list[_PlanLine]:
    if view.changes:
        return [
            _PlanLine(
                what=change.what,
                why=change.why,
                destroys=change.destroys,
                stage=change.stage,
                node=change.node,
                mark=change.mark,
            )
            for change in view.changes
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
    counts = count_noun(len(steps), "step") + (f", {count_noun(gates, 'gate')}" if gates else "")
    yield screen.paint(stage.value, "heading") + screen.paint(f" ({counts})", "faint")
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
    first, *more = _fit(line.what, screen, 6)
    yield f"    {screen.paint(mark, style)} {screen.paint(first, style)}"
    yield from (f"      {screen.paint(text, style)}" for text in more)
    if line.why:
        yield from (f"        {text}" for text in _fit(line.why, screen, 8))
    if line.destroys:
        texts = _fit(f"destroys {line.destroys}", screen, 8)
        yield from (f"        {screen.paint(text, 'error')}" for text in texts)


def _steps(plan: Plan, screen: Screen) -> Iterator[str]:
    headers = ("STEP", "ACTION", "NEEDS", "GATES", "DURATION")
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
    yield from _fit(f"critical path: {chain}", screen, 0)


def _loss_lines(plan: Plan, screen: Screen) -> Iterator[str]:
    if losses := dict.fromkeys(plan.destroys):
        yield screen.paint("permanently destroyed:", "error")
        for loss in losses:
            first, *more = _fit(loss, screen, 4)
            yield f"  - {first}"
            yield from (f"    {text}" for text in more)
        yield ""


def _fit(text: str, screen: Screen, indent: int) -> list[str]:
    shown = escape_control(text)
    if screen.width is None:
        return [shown]
    return wrap(shown, max(screen.width - indent, _NARROWEST))


def show_call_counts(calls: Sequence[SystemCalls], output: Output) -> None:
    """Print the number of API calls to stdout."""
    data = {
        "systems": [
            {
                "system": call.system,
                "calls": call.calls,
                "of": dict(call.of),
                "grows": call.grows,
                "by_call": dict(call.by_call),
            }
            for call in calls
        ],
        "calls": sum(call.calls for call in calls),
    }
    show(data, kind="PlanStats", output=output, human=lambda _, on: call_count_lines(calls, on))


def call_count_lines(calls: Sequence[SystemCalls], screen: Screen) -> Iterator[str]:
    """Return a row for each system, and with `-v` each kind of call."""
    rows: list[tuple[str | Cell, ...]] = []
    for call in calls:
        of = ", ".join(f"{count} {name}" for name, count in call.of.items())
        rows.append((Cell(call.system, "name"), str(call.calls), of, call.grows))
        if screen.verbosity:
            rows += [(f"  {name}", str(count)) for name, count in sorted(call.by_call.items())]
    rows.append(("all", str(sum(call.calls for call in calls))))
    headers = ("SYSTEM", "CALLS", "OF", "SCALES WITH")
    yield from table(headers, rows, width=screen.width, paint=screen.paint)


def destroy_question(plan: Plan) -> str:
    """Return the prompt before a plan is executed; it lists everything that is destroyed."""
    steps = count_noun(len(plan.steps), "step")
    go_on = f"Execute {steps} on cluster {escape_control(plan.cluster)}?"
    lost = [escape_control(loss) for loss in dict.fromkeys(plan.destroys)]
    match lost:
        case []:
            return go_on
        case [loss]:
            return f"This permanently destroys {loss}. {go_on}"
    return "\n".join(["This permanently destroys:", *(f"  - {loss}" for loss in lost), go_on])
