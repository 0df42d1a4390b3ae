"""`stockman apply`: make everything as the configuration says."""

from __future__ import annotations

import asyncio
import os
from functools import partial
from typing import TYPE_CHECKING

import click

from stockman.cli import options
from stockman.cli.ask import confirmed
from stockman.cli.command import command
from stockman.cli.exit import Exit
from stockman.cli.output import Output
from stockman.cli.plan_options import login, plan_wish, planning, refuse_shape
from stockman.cli.plan_options import max_parallel as max_parallel_option
from stockman.cli.runs_act import exit_of
from stockman.model.parallelism import MAX_PARALLEL

if TYPE_CHECKING:
    from stockman.adapters.http_proxmox.credentials import Login
    from stockman.app.plans import PlanWish
    from stockman.app.session import Place, Session
    from stockman.cli.plan_data import PlanView
    from stockman.cli.run_report import Ended
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
@planning
@max_parallel_option
@options.yes
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
    from stockman.app.session import Place
    from stockman.cli.run_start import problems_as_lines

    if file is not None:
        refuse_shape(ctx, file)
    place = Place(
        directory=options.directory(ctx),
        environment=os.environ,
        clock=SystemTimekeeper(),
        entropy=SystemEntropy(),
    )
    wish = plan_wish(
        only, nodes, until, push=push, prune=prune, reconcile=reconcile, any_time=any_time
    )
    command_line = Applying(place, output, yes=yes, max_parallel=max_parallel)
    with problems_as_lines(output, place.clock):
        return asyncio.run(command_line.applied(file, wish, login(admin)))


class Applying:
    """One call of a command that carries out a plan."""

    def __init__(
        self, place: Place, output: Output, *, yes: bool, max_parallel: int = MAX_PARALLEL
    ) -> None:
        self._place = place
        self._output = output
        self._yes = yes
        self._max_parallel = max_parallel

    async def applied(self, file: str | None, wish: PlanWish, admin: Login | None) -> int:
        """Plan, ask, and carry out; returns the exit status."""
        from pathlib import Path

        from stockman.app.applying import check_saved, planned_and, saved_plan
        from stockman.app.session import opened_session
        from stockman.cli.plan_data import PlanView

        kept = saved_plan(Path(file)) if file is not None else None
        async with opened_session(self._place, admin) as session:
            if kept is None:
                return await planned_and(session, wish, partial(self.decided, session))
            found = await session.plan(wish)
            check_saved(kept, found)
            view = PlanView(plan=kept, warnings=tuple(found.problems.warnings))
            return await self.carried_out(session, view)

    async def decided(self, session: Session, found: Planned) -> int:
        """Carry out a plan that was just made, unless something speaks against it."""
        from stockman.cli.plan_data import PlanView
        from stockman.cli.run_start import show_unfit

        if found.problems.errors:
            show_unfit(found, self._place.clock.now(), self._output)
            return Exit.FAILED
        view = PlanView(
            plan=found.plan, changes=found.changes, warnings=tuple(found.problems.warnings)
        )
        return await self.carried_out(session, view)

    async def carried_out(self, session: Session, view: PlanView) -> int:
        """Show a plan, ask, and carry it out."""
        from stockman.app.applying import is_left_open
        from stockman.cli.plan_question import destroy_question
        from stockman.cli.run_start import show_start
        from stockman.cli.screen import current

        # What a run that nobody finished still holds is given back, also where nothing is to do.
        is_over = view.plan.is_empty and not await is_left_open(session.home, self._place.clock)
        show_start(view, self._place.clock.now(), self._output)
        if is_over:
            return Exit.DONE
        question = destroy_question(view.plan)
        if not view.plan.is_empty and not confirmed(question, yes=self._yes):
            current().note("nothing was changed")
            return Exit.FAILED
        return await self.run(session, view.plan)

    async def run(self, session: Session, plan: Plan) -> int:
        """Carry a plan out without asking, and tell how it ended."""
        from stockman.cli.run_report import show_end

        ended = await self._run(session, plan)
        show_end(ended, self._output)
        return exit_of(ended.outcome)

    async def _run(self, session: Session, plan: Plan) -> Ended:
        from stockman.app.applying import Manner, applied
        from stockman.app.interrupting import interruptible
        from stockman.app.run_home import who
        from stockman.cli.live_forms import LivePlan
        from stockman.cli.live_view import live_view
        from stockman.cli.run_report import Ended
        from stockman.engine.stop import Stop

        clock, stop = self._place.clock, Stop()
        began = clock.now()
        async with live_view(LivePlan(plan=plan, stop=stop), clock, self._output) as watcher:
            with interruptible(stop):
                manner = Manner(
                    by=who(), stop=stop, watchers=(watcher,), max_parallel=self._max_parallel
                )
                outcome = await applied(session, plan, manner)
        seconds = (clock.now() - began).total_seconds()
        return Ended(outcome=outcome, plan=plan, seconds=seconds)
