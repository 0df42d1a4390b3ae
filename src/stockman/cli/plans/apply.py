"""`stockman apply`: apply the configuration."""

from __future__ import annotations

import asyncio
import os
from functools import partial
from typing import TYPE_CHECKING

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.exit import Exit
from stockman.cli.output import Output
from stockman.cli.plans.options import login, plan_options, plan_request, reject_shape_options
from stockman.cli.plans.options import max_parallel as max_parallel_option
from stockman.cli.terminal.prompts import confirm
from stockman.model.parallelism import MAX_PARALLEL

if TYPE_CHECKING:
    from stockman.adapters.proxmox.credentials import Login
    from stockman.app.runs.plans import PlanOptions
    from stockman.app.runs.session import Session, SessionContext
    from stockman.cli.plans.data import PlanView
    from stockman.cli.plans.report import RunResult
    from stockman.planning.planned import Planned
    from stockman.steps.plan import Plan


@command(
    examples={
        "stockman apply": "plan, ask for confirmation, and apply",
        "stockman apply --push": "also commit and push the rendered files for Flux",
        "stockman apply plan.json": "apply a plan saved with `stockman plan --out plan.json`",
        "stockman apply --only access --admin root@pam": (
            "create API tokens, logged in as an administrator"
        ),
        "stockman apply --push --reconcile": "also reconcile Flux immediately",
        "stockman apply --node talos-neo --yes": (
            "apply the changes of one node, without confirmation"
        ),
        "stockman apply --any-time": "restart machines outside of upgrade.windows too",
    }
)
@click.argument("file", required=False, type=click.Path(dir_okay=False))
@plan_options
@max_parallel_option
@options.yes_option
@options.output
@click.pass_context
def apply(  # noqa: PLR0913 - one parameter per option
    ctx: click.Context,
    file: str | None,
    only: tuple[str, ...],
    nodes: tuple[str, ...],
    until: str,
    push: bool,
    prune: bool,
    reconcile: bool,
    any_time: bool,
    admin: str | None,
    max_parallel: int,
    yes: bool,
    output: Output,
) -> int:
    """Apply the configuration: access, images, VMs, Talos, Kubernetes.

    The plan is shown and has to be confirmed; the prompt lists everything that will be destroyed.
    Every step checks, acts and checks again, and is recorded in a journal, so an interrupted run
    can be resumed. Press Ctrl-C once to finish the running steps and release all holds, twice to
    stop immediately. With FILE, a saved plan is applied as it is, unless something it touches has
    changed since.

    Exit status: 0 if the cluster matches the configuration, 1 if the run failed before any change,
    2 if rendered files have to be committed and pushed before the cluster can follow, or if
    restarts wait for an upgrade window, 3 if a gate or a change since planning refused the run, 4
    if it failed after making some changes, 130 after Ctrl-C. With -o json the plan, its warnings
    and every journal entry are printed as JSON lines; the last line is the result.
    """
    from stockman.adapters.system import SystemEntropy, SystemTimekeeper
    from stockman.app.runs.session import SessionContext
    from stockman.cli.plans.report import report_problems_as_events

    if file is not None:
        reject_shape_options(ctx, file)
    workspace = SessionContext(
        directory=options.directory(ctx),
        environment=os.environ,
        clock=SystemTimekeeper(),
        entropy=SystemEntropy(),
    )
    request = plan_request(
        only, nodes, until, push=push, prune=prune, reconcile=reconcile, any_time=any_time
    )
    command_line = ApplyRun(workspace, output, yes=yes, max_parallel=max_parallel)
    with report_problems_as_events(output, workspace.clock):
        return asyncio.run(command_line.plan_and_run(file, request, login(admin)))


class ApplyRun:
    """One invocation of a command that executes a plan."""

    def __init__(
        self,
        workspace: SessionContext,
        output: Output,
        *,
        yes: bool,
        max_parallel: int = MAX_PARALLEL,
    ) -> None:
        self._context = workspace
        self._output = output
        self._yes = yes
        self._max_parallel = max_parallel

    async def plan_and_run(
        self, file: str | None, request: PlanOptions, admin: Login | None
    ) -> int:
        """Plan, ask for confirmation, and execute; returns the exit status."""
        from pathlib import Path

        from stockman.app.runs.apply import check_saved_plan, plan_and_execute, read_saved_plan
        from stockman.app.runs.session import open_session
        from stockman.cli.plans.data import PlanView

        saved_plan = read_saved_plan(Path(file)) if file is not None else None
        async with open_session(self._context, admin) as session:
            if saved_plan is None:
                return await plan_and_execute(session, request, partial(self.run_planned, session))
            current = await session.plan(request)
            check_saved_plan(saved_plan, current)
            view = PlanView(plan=saved_plan, warnings=tuple(current.problems.warnings))
            return await self.confirm_and_run(session, view)

    async def run_planned(self, session: Session, planned: Planned) -> int:
        """Execute a plan that was just made, unless it has errors."""
        from stockman.cli.plans.data import PlanView
        from stockman.cli.plans.report import show_refused_plan

        if planned.problems.errors:
            show_refused_plan(planned, self._context.clock.now(), self._output)
            return Exit.FAILED
        view = PlanView(
            plan=planned.plan, changes=planned.changes, warnings=tuple(planned.problems.warnings)
        )
        return await self.confirm_and_run(session, view)

    async def confirm_and_run(self, session: Session, view: PlanView) -> int:
        """Show a plan, ask for confirmation, and execute it."""
        from stockman.app.runs.apply import is_left_open
        from stockman.cli.plans.report import show_run_plan
        from stockman.cli.plans.view import destroy_question
        from stockman.cli.terminal.screen import current_screen

        # Holds of an unfinished run are released even if there are no other changes.
        has_no_work = view.plan.is_empty and not await is_left_open(
            session.home, self._context.clock
        )
        show_run_plan(view, self._context.clock.now(), self._output)
        if has_no_work:
            return Exit.DONE
        question = destroy_question(view.plan)
        if not view.plan.is_empty and not confirm(question, yes=self._yes):
            current_screen().note("No changes were made.")
            return Exit.FAILED
        return await self.run(session, view.plan)

    async def run(self, session: Session, plan: Plan) -> int:
        """Execute a plan without asking, and print the result."""
        from stockman.cli.plans.report import exit_status, show_result

        result = await self._run(session, plan)
        show_result(result, self._output)
        return exit_status(result.outcome)

    async def _run(self, session: Session, plan: Plan) -> RunResult:
        from stockman.app.runs.apply import ApplyOptions, execute_plan, interruptible
        from stockman.app.runs.store import current_user
        from stockman.cli.live.view import LivePlan, live_view
        from stockman.cli.plans.report import RunResult
        from stockman.engine.context import StopRequest

        clock, stop = self._context.clock, StopRequest()
        began = clock.now()
        async with live_view(LivePlan(plan=plan, stop=stop), clock, self._output) as watcher:
            with interruptible(stop):
                apply_options = ApplyOptions(
                    by=current_user(),
                    stop=stop,
                    watchers=(watcher,),
                    max_parallel=self._max_parallel,
                )
                outcome = await execute_plan(session, plan, apply_options)
        seconds = (clock.now() - began).total_seconds()
        return RunResult(outcome=outcome, plan=plan, seconds=seconds)
