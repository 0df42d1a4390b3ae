"""`stockman plan`: show the changes that a run would make."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.completion import complete_steps
from stockman.cli.output import Exit, Output, show
from stockman.cli.plans.data import step_data
from stockman.cli.plans.options import login, plan_options, plan_request
from stockman.cli.terminal.screen import Screen
from stockman.cli.terminal.styles import escape_control, format_duration, format_estimate
from stockman.cli.terminal.tables import wrap
from stockman.engine.state import critical_path, seconds_to_end
from stockman.model.problem import Problem
from stockman.steps.plan import Plan
from stockman.steps.step import Step

if TYPE_CHECKING:
    from stockman.adapters.proxmox.credentials import Login
    from stockman.app.runs.plans import PlanOptions
    from stockman.app.runs.session import Session, SessionContext
    from stockman.planning.planned import Planned


@command(
    examples={
        "stockman plan": "show all changes",
        "stockman plan --out plan.json": "save the plan for `stockman apply plan.json`",
        "stockman plan --only vms --node talos-neo": "plan only the VM of one node",
        "stockman plan --explain talos/bootstrap": "show the details of one step",
        "stockman plan --stats": "show the number of API calls by system",
    }
)
@plan_options
@click.option("--out", metavar="FILE", help="Save the plan to this file.")
@click.option(
    "--explain",
    metavar="STEP",
    default="",
    shell_complete=complete_steps,
    help="Show the details of one step.",
)
@click.option("--stats", is_flag=True, help="Show the number of API calls by system.")
@options.output
@click.pass_context
def plan(  # noqa: PLR0913 - one parameter per option
    ctx: click.Context,
    only: tuple[str, ...],
    nodes: tuple[str, ...],
    until: str,
    push: bool,
    message: str,
    branch: str,
    prune: bool,
    reconcile: bool,
    any_time: bool,
    first_config: tuple[str, ...],
    admin: str | None,
    out: str | None,
    explain: str,
    stats: bool,
    output: Output,
) -> int:
    """Show the changes needed to match the configuration.

    All systems are read once and nothing is changed. The exit status is 0 if there are no changes,
    2 if there are, 1 if there are errors, 3 if rendered files need a decision first.
    """
    request = plan_request(
        only,
        nodes,
        until,
        push=push,
        message=message,
        branch=branch,
        prune=prune,
        reconcile=reconcile,
        any_time=any_time,
        first_config=first_config,
    )
    planned_changes = make_plan(options.session_context(ctx), request, login(admin), out=out)
    if stats:
        from stockman.cli.plans.view import show_call_counts

        show_call_counts(planned_changes.observed.counted, output)
    if planned_changes.problems.errors:
        from stockman.cli.plans.view import show_refusal

        show_refusal(
            planned_changes.plan, planned_changes.problems, Output.TABLE if stats else output
        )
        return Exit.FAILED
    if explain:
        show_step(planned_changes.plan, explain, output)
    elif not stats:
        from stockman.cli.plans.data import PlanView
        from stockman.cli.plans.view import show_plan

        warnings = tuple(planned_changes.problems.warnings)
        show_plan(
            PlanView(plan=planned_changes.plan, changes=planned_changes.changes, warnings=warnings),
            output,
        )
    return Exit.DONE if planned_changes.plan.is_empty else Exit.CHANGES


def make_plan(
    context: SessionContext, request: PlanOptions, admin: Login | None, *, out: str | None = None
) -> Planned:
    """Observe all systems and plan the changes; `out` is the file of a plan without errors."""
    from stockman.app.runs.session import open_session

    async def observe_and_plan() -> Planned:
        async with open_session(context, admin) as session:
            planned = await session.plan(request)
            if out is not None and not planned.problems.errors:
                _save_plan(session, planned, out)
            return planned

    return asyncio.run(observe_and_plan())


def _save_plan(session: Session, planned: Planned, name: str) -> None:
    """Save a plan with its signature; it contains no secrets."""
    from pathlib import Path

    from stockman.adapters.files import replace_file
    from stockman.cli.terminal.screen import current_screen
    from stockman.model.errors import StockmanError
    from stockman.steps.plan import plan_digest, render_plan

    signer = session.home.signer
    text = render_plan(planned.plan, signer.sign_plan if signer is not None else None).encode()
    try:
        replace_file(Path(name), text, tag=plan_digest(planned.plan)[:8])
    except OSError as error:
        raise StockmanError(
            plan_not_writable(name, error.strerror or type(error).__name__)
        ) from None
    current_screen().note(f"Saved the plan to {name}. Apply it with `stockman apply {name}`.")


def plan_not_writable(name: str, why: str) -> Problem:
    """Return the problem of a plan file that cannot be written."""
    return Problem(
        code="plan.unwritable",
        what=f"the plan cannot be written to {name}",
        where=name,
        why=why,
        fix="use a file in an existing directory with write permission",
    )


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
