"""`stockman plan`: what a run would do."""

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
        "stockman plan": "what differs, and what a run would do about it",
        "stockman plan --out plan.json": "keep it for `stockman apply plan.json`",
        "stockman plan --only vms --node talos-neo": "a part of it",
        "stockman plan --explain talos/bootstrap": "everything about one step",
        "stockman plan --stats": "how often each system was asked",
    }
)
@plan_options
@click.option("--out", metavar="FILE", help="Write the plan to this file, to be applied later.")
@click.option(
    "--explain",
    metavar="STEP",
    default="",
    shell_complete=complete_steps,
    help="Tell everything about one step.",
)
@click.option("--stats", is_flag=True, help="Tell how often each system was asked.")
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
    """Show what differs from the configuration, and what a run would do about it.

    Everything is looked at once and nothing is changed. Exits with 0 when there is nothing to do,
    with 2 when there is, with 1 when something stands in the way of doing it, with 3 when the
    files wait for a decision first.
    """
    wish = plan_request(
        only, nodes, until, push=push, prune=prune, reconcile=reconcile, any_time=any_time
    )
    found = make_plan(options.directory(ctx), wish, login(admin))
    if stats:
        from stockman.cli.plans.view import show_call_counts

        show_call_counts(found.observed.counted, output)
    if found.problems.errors:
        from stockman.cli.plans.view import show_refusal

        show_refusal(found.plan, found.problems, Output.TABLE if stats else output)
        return Exit.FAILED
    if out is not None:
        _save_plan(found, out)
    if explain:
        from stockman.cli.plans.explain import show_step

        show_step(found.plan, explain, output)
    elif not stats:
        from stockman.cli.plans.data import PlanView
        from stockman.cli.plans.view import show_plan

        warnings = tuple(found.problems.warnings)
        show_plan(PlanView(plan=found.plan, changes=found.changes, warnings=warnings), output)
    return Exit.DONE if found.plan.is_empty else Exit.CHANGES


def make_plan(directory: Path, wish: PlanOptions, admin: Login | None) -> Planned:
    """Look at everything, and say what is to be done."""
    from stockman.adapters.system import SystemEntropy, SystemTimekeeper
    from stockman.app.runs.session import SessionContext, open_session

    async def made() -> Planned:
        place = SessionContext(
            directory=directory,
            environment=os.environ,
            clock=SystemTimekeeper(),
            entropy=SystemEntropy(),
        )
        async with open_session(place, admin) as session:
            return await session.plan(wish)

    return asyncio.run(made())


def _save_plan(found: Planned, name: str) -> None:
    """Write a plan for later; there is no secret in it."""
    from pathlib import Path

    from stockman.adapters.files import replace_file
    from stockman.cli.terminal.screen import current_screen
    from stockman.model.errors import StockmanError
    from stockman.steps.plan import plan_digest, render_plan

    text = render_plan(found.plan).encode()
    try:
        replace_file(Path(name), text, tag=plan_digest(found.plan)[:8])
    except OSError as error:
        raise StockmanError(unwritable(name, error.strerror or type(error).__name__)) from None
    current_screen().note(f"the plan is in {name}: carry it out with `stockman apply {name}`")


def unwritable(name: str, why: str) -> Problem:
    """The problem of a plan that cannot be kept."""
    return Problem(
        code="plan.unwritable",
        what=f"the plan cannot be written to {name}",
        where=name,
        why=why,
        fix="name a file in a directory that is there and that you may write to",
    )
