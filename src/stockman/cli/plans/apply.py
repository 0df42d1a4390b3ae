"""`stockman apply`: make everything as the configuration says."""

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
from stockman.cli.runs.control import exit_status
from stockman.cli.terminal.prompts import confirm
from stockman.model.parallelism import MAX_PARALLEL

if TYPE_CHECKING:
    from stockman.adapters.proxmox.credentials import Login
    from stockman.app.runs.plans import PlanOptions
    from stockman.app.runs.session import Session, SessionContext
    from stockman.cli.plans.data import PlanView
    from stockman.cli.runs.report import RunResult
    from stockman.planning.planned import Planned
    from stockman.steps.plan import Plan


@command(
    examples={
        "stockman apply": "plan, ask, and do it",
        "stockman apply --push": "and commit and push what Flux is to follow",
        "stockman apply plan.json": "do what `stockman plan --out plan.json` kept",
        "stockman apply --only access --admin root@pam": "make tokens, as an administrator",
        "stockman apply --push --reconcile": "and have Flux look at it now",
        "stockman apply --node talos-neo --yes": "one node only, without being asked",
        "stockman apply --any-time": "restart machines outside of upgrade.windows, too",
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
    """Make everything as the configuration says: access, images, VMs, Talos, Kubernetes.

    The plan is shown, and you are asked with the names of what is destroyed. Every step looks,
    acts and looks again, and is written to a journal: whatever ends a run, the next one goes on.
    Ctrl-C once: finish what has begun, and give back what is held; twice: stop now. With FILE, a
    plan that was kept is carried out as it is, if nothing that it touches has changed since.

    Exits with 0 when everything is as it should be, with 2 when you have to commit and push what
    was rendered before the cluster can follow it, or when restarts wait for a window, with 3 when
    a gate or what changed since refused it, with 4 when it failed after a part was done, with 1
    when it failed before that, and with 130 after Ctrl-C. With -o json the plan, its warnings and
    every entry of the journal are lines, and the last line is the outcome.
    """
    from stockman.adapters.system import SystemEntropy, SystemTimekeeper
    from stockman.app.runs.session import SessionContext
    from stockman.cli.runs.report import report_problems_as_events

    if file is not None:
        reject_shape_options(ctx, file)
    place = SessionContext(
        directory=options.directory(ctx),
        environment=os.environ,
        clock=SystemTimekeeper(),
        entropy=SystemEntropy(),
    )
    wish = plan_request(
        only, nodes, until, push=push, prune=prune, reconcile=reconcile, any_time=any_time
    )
    command_line = ApplyRun(place, output, yes=yes, max_parallel=max_parallel)
    with report_problems_as_events(output, place.clock):
        return asyncio.run(command_line.applied(file, wish, login(admin)))


class ApplyRun:
    """One call of a command that carries out a plan."""

    def __init__(
        self, place: SessionContext, output: Output, *, yes: bool, max_parallel: int = MAX_PARALLEL
    ) -> None:
        self._place = place
        self._output = output
        self._yes = yes
        self._max_parallel = max_parallel

    async def applied(self, file: str | None, wish: PlanOptions, admin: Login | None) -> int:
        """Plan, ask, and carry out; returns the exit status."""
        from pathlib import Path

        from stockman.app.runs.apply import check_saved, plan_and_execute, read_saved_plan
        from stockman.app.runs.session import open_session
        from stockman.cli.plans.data import PlanView

        kept = read_saved_plan(Path(file)) if file is not None else None
        async with open_session(self._place, admin) as session:
            if kept is None:
                return await plan_and_execute(session, wish, partial(self.decided, session))
            found = await session.plan(wish)
            check_saved(kept, found)
            view = PlanView(plan=kept, warnings=tuple(found.problems.warnings))
            return await self.carried_out(session, view)

    async def decided(self, session: Session, found: Planned) -> int:
        """Carry out a plan that was just made, unless something speaks against it."""
        from stockman.cli.plans.data import PlanView
        from stockman.cli.runs.report import show_refused_plan

        if found.problems.errors:
            show_refused_plan(found, self._place.clock.now(), self._output)
            return Exit.FAILED
        view = PlanView(
            plan=found.plan, changes=found.changes, warnings=tuple(found.problems.warnings)
        )
        return await self.carried_out(session, view)

    async def carried_out(self, session: Session, view: PlanView) -> int:
        """Show a plan, ask, and carry it out."""
        from stockman.app.runs.apply import is_left_open
        from stockman.cli.plans.view import destroy_question
        from stockman.cli.runs.report import show_run_plan
        from stockman.cli.terminal.screen import current_screen

        # What a run that nobody finished still holds is given back, also where nothing is to do.
        is_over = view.plan.is_empty and not await is_left_open(session.home, self._place.clock)
        show_run_plan(view, self._place.clock.now(), self._output)
        if is_over:
            return Exit.DONE
        question = destroy_question(view.plan)
        if not view.plan.is_empty and not confirm(question, yes=self._yes):
            current_screen().note("nothing was changed")
            return Exit.FAILED
        return await self.run(session, view.plan)

    async def run(self, session: Session, plan: Plan) -> int:
        """Carry a plan out without asking, and tell how it ended."""
        from stockman.cli.runs.report import show_result

        ended = await self._run(session, plan)
        show_result(ended, self._output)
        return exit_status(ended.outcome)

    async def _run(self, session: Session, plan: Plan) -> RunResult:
        from stockman.app.runs.apply import ApplyOptions, execute_plan, interruptible
        from stockman.app.runs.store import current_user
        from stockman.cli.live.view import LivePlan, live_view
        from stockman.cli.runs.report import RunResult
        from stockman.engine.context import StopRequest

        clock, stop = self._place.clock, StopRequest()
        began = clock.now()
        async with live_view(LivePlan(plan=plan, stop=stop), clock, self._output) as watcher:
            with interruptible(stop):
                manner = ApplyOptions(
                    by=current_user(),
                    stop=stop,
                    watchers=(watcher,),
                    max_parallel=self._max_parallel,
                )
                outcome = await execute_plan(session, plan, manner)
        seconds = (clock.now() - began).total_seconds()
        return RunResult(outcome=outcome, plan=plan, seconds=seconds)
