"""`stockman plan`: show the changes that a run would make."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.completion import complete_steps
from stockman.cli.exit import Exit
from stockman.cli.output import Output
from stockman.cli.plans.options import login, plan_options, plan_request
from stockman.model.problem import Problem

if TYPE_CHECKING:
    from pathlib import Path

    from stockman.adapters.proxmox.credentials import Login
    from stockman.app.runs.plans import PlanOptions
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
    prune: bool,
    reconcile: bool,
    any_time: bool,
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
        only, nodes, until, push=push, prune=prune, reconcile=reconcile, any_time=any_time
    )
    planned_changes = make_plan(options.directory(ctx), request, login(admin))
    if stats:
        from stockman.cli.plans.view import show_call_counts

        show_call_counts(planned_changes.observed.counted, output)
    if planned_changes.problems.errors:
        from stockman.cli.plans.view import show_refusal

        show_refusal(
            planned_changes.plan, planned_changes.problems, Output.TABLE if stats else output
        )
        return Exit.FAILED
    if out is not None:
        _save_plan(planned_changes, out)
    if explain:
        from stockman.cli.plans.explain import show_step

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


def make_plan(directory: Path, request: PlanOptions, admin: Login | None) -> Planned:
    """Observe all systems and plan the changes."""
    from stockman.adapters.system import SystemEntropy, SystemTimekeeper
    from stockman.app.runs.session import SessionContext, open_session

    async def observe_and_plan() -> Planned:
        workspace = SessionContext(
            directory=directory,
            environment=os.environ,
            clock=SystemTimekeeper(),
            entropy=SystemEntropy(),
        )
        async with open_session(workspace, admin) as session:
            return await session.plan(request)

    return asyncio.run(observe_and_plan())


def _save_plan(planned: Planned, name: str) -> None:
    """Save a plan; it contains no secrets."""
    from pathlib import Path

    from stockman.adapters.files import replace_file
    from stockman.cli.terminal.screen import current_screen
    from stockman.model.errors import StockmanError
    from stockman.steps.plan import plan_digest, render_plan

    text = render_plan(planned.plan).encode()
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
