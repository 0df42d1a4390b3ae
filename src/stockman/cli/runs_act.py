"""`stockman runs resume` and `abort`: go on with a run, or give it up."""

from __future__ import annotations

import asyncio
import os
from dataclasses import field
from typing import TYPE_CHECKING

import click

from stockman.cli import options
from stockman.cli.ask import confirmed
from stockman.cli.command import command
from stockman.cli.complete import complete_runs
from stockman.cli.exit import Exit
from stockman.cli.output import Output
from stockman.cli.plan_options import admin as admin_option
from stockman.cli.plan_options import login
from stockman.cli.plan_options import max_parallel as max_parallel_option
from stockman.model.parallelism import MAX_PARALLEL
from stockman.model.record import record

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from stockman.adapters.http_proxmox.credentials import Login
    from stockman.cli.run_report import Ended
    from stockman.engine.carrying_out import Home, Way
    from stockman.engine.executor import Outcome
    from stockman.steps.ports import Ports

    Act = Callable[[Home, str, Ports, Way], Awaitable[Outcome]]


@command(
    name="resume",
    examples={
        "stockman runs resume": "go on with the newest run",
        "stockman runs resume 20260301t060000z-5f2c1a": "go on with that one",
    },
)
@click.argument("run", required=False, shell_complete=complete_runs)
@admin_option
@max_parallel_option
@options.output
@click.pass_context
def runs_resume(
    ctx: click.Context, run: str | None, admin: str | None, max_parallel: int, output: Output
) -> int:
    """Go on with a run that was killed, paused or failed.

    Without RUN, the newest. Every step is looked at before anything is done, so nothing is done
    twice. Ctrl-C once: finish what has begun, and give back what is held; twice: stop now.

    Exits as `stockman apply` does: with 0 when all is done, with 2 when you have to commit and
    push first, with 3 when a gate refused it, with 4 when it failed after a part was done, with 1
    when it failed before that, and with 130 after Ctrl-C. With -o json every entry of the journal
    is a line, and the last line is the outcome.
    """
    from stockman.cli.run_report import show_end
    from stockman.engine.carrying_out import resume

    asked = Asked(run=run, output=output, admin=login(admin), max_parallel=max_parallel)
    ended = _acted(options.directory(ctx), asked, resume)
    show_end(ended, output)
    return exit_of(ended.outcome)


@command(
    name="abort",
    examples={
        "stockman runs abort --yes": "give the newest run up, without being asked",
    },
)
@click.argument("run", required=False, shell_complete=complete_runs)
@options.yes
@options.output
@click.pass_context
def runs_abort(ctx: click.Context, run: str | None, yes: bool, output: Output) -> int:
    """Give a run up, and give back what it holds.

    Without RUN, the newest. What its steps did stays as it is; `stockman plan` shows what is left.
    Exits with 1 when something could not be given back. With -o json every entry of the journal is
    a line, and the last line is the outcome.
    """
    from stockman.cli.run_report import show_end
    from stockman.engine.carrying_out import abort

    if not confirmed(f"give up {run or 'the newest run'}?", yes=yes):
        return Exit.FAILED
    ended = _acted(options.directory(ctx), Asked(run=run, output=output), abort)
    show_end(ended, output)
    return Exit.FAILED if ended.outcome.problems else Exit.DONE


@record
class Asked:
    """What the command line says of a run."""

    run: str | None
    """None: the newest."""
    output: Output
    admin: Login | None = field(default=None, repr=False)
    """Who grants access to Proxmox VE. None: whom the environment names."""
    max_parallel: int = MAX_PARALLEL


def _acted(directory: Path, asked: Asked, act: Act) -> Ended:
    from stockman.adapters.system import SystemEntropy, SystemTimekeeper
    from stockman.app.interrupting import interruptible
    from stockman.app.run_doors import opened_doors
    from stockman.app.run_home import opened_home, who
    from stockman.app.runs import so_far
    from stockman.app.workspace_plan import Workspace
    from stockman.cli.live_forms import LivePlan
    from stockman.cli.live_view import live_view
    from stockman.cli.run_report import Ended
    from stockman.cli.run_start import problems_as_lines
    from stockman.engine.carrying_out import Way
    from stockman.engine.context import Settings
    from stockman.engine.stop import Stop

    clock = SystemTimekeeper()

    async def done() -> Ended:
        stop = Stop()
        began = clock.now()
        workspace = Workspace(directory, os.environ, clock, SystemEntropy())
        async with (
            opened_home(directory, os.environ, clock) as home,
            opened_doors(workspace, clock, asked.admin) as ports,
        ):
            found = await so_far(home, asked.run, clock)
            watched = LivePlan(plan=found.plan, before=found.entries, stop=stop)
            async with live_view(watched, clock, asked.output) as watcher:
                with interruptible(stop):
                    settings = Settings(max_parallel=asked.max_parallel)
                    way = Way(by=who(), stop=stop, settings=settings, watchers=(watcher,))
                    outcome = await act(home, found.run, ports, way)
        seconds = (clock.now() - began).total_seconds()
        return Ended(outcome=outcome, plan=found.plan, seconds=seconds)

    with problems_as_lines(asked.output, clock):
        return asyncio.run(done())


def exit_of(outcome: Outcome) -> Exit:
    """What the exit status says of a run."""
    from stockman.app.applying import waits_for_push, waits_for_window
    from stockman.engine.state import Progress, Result

    if waits_for_push(outcome) or waits_for_window(outcome):
        return Exit.CHANGES
    match outcome.result:
        case Result.DONE | Result.ABORTED:
            return Exit.DONE
        case Result.REFUSED:
            return Exit.REFUSED
        case Result.PAUSED:
            return Exit.INTERRUPTED
        case Result.FAILED:
            steps = outcome.state.steps.values()
            changed = any(one.progress is Progress.DONE and not one.already for one in steps)
            return Exit.PARTLY if changed else Exit.FAILED
