"""`stockman runs resume` and `abort`: go on with a run, or give it up."""

from __future__ import annotations

import asyncio
import os
from dataclasses import field
from typing import TYPE_CHECKING

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.completion import complete_runs
from stockman.cli.exit import Exit
from stockman.cli.output import Output
from stockman.cli.plans.options import admin as admin_option
from stockman.cli.plans.options import login
from stockman.cli.plans.options import max_parallel as max_parallel_option
from stockman.cli.terminal.prompts import confirm
from stockman.model.parallelism import MAX_PARALLEL
from stockman.model.record import record

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from stockman.adapters.proxmox.credentials import Login
    from stockman.cli.runs.report import RunResult
    from stockman.engine.executor import RunOutcome
    from stockman.engine.lifecycle import RunHome, RunOptions
    from stockman.steps.ports import Ports

    Act = Callable[[RunHome, str, Ports, RunOptions], Awaitable[RunOutcome]]


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
    from stockman.cli.runs.report import show_result
    from stockman.engine.lifecycle import resume_run

    asked = RunRequest(run=run, output=output, admin=login(admin), max_parallel=max_parallel)
    ended = _continue_run(options.directory(ctx), asked, resume_run)
    show_result(ended, output)
    return exit_status(ended.outcome)


@command(
    name="abort",
    examples={
        "stockman runs abort --yes": "give the newest run up, without being asked",
    },
)
@click.argument("run", required=False, shell_complete=complete_runs)
@options.yes_option
@options.output
@click.pass_context
def runs_abort(ctx: click.Context, run: str | None, yes: bool, output: Output) -> int:
    """Give a run up, and give back what it holds.

    Without RUN, the newest. What its steps did stays as it is; `stockman plan` shows what is left.
    Exits with 1 when something could not be given back. With -o json every entry of the journal is
    a line, and the last line is the outcome.
    """
    from stockman.cli.runs.report import show_result
    from stockman.engine.lifecycle import abort_run

    if not confirm(f"give up {run or 'the newest run'}?", yes=yes):
        return Exit.FAILED
    ended = _continue_run(options.directory(ctx), RunRequest(run=run, output=output), abort_run)
    show_result(ended, output)
    return Exit.FAILED if ended.outcome.problems else Exit.DONE


@record
class RunRequest:
    """What the command line says of a run."""

    run: str | None
    """None: the newest."""
    output: Output
    admin: Login | None = field(default=None, repr=False)
    """Who grants access to Proxmox VE. None: whom the environment names."""
    max_parallel: int = MAX_PARALLEL


def _continue_run(directory: Path, asked: RunRequest, act: Act) -> RunResult:
    from stockman.adapters.system import SystemEntropy, SystemTimekeeper
    from stockman.app.runs.apply import interruptible
    from stockman.app.runs.connections import open_clients
    from stockman.app.runs.history import recorded_run
    from stockman.app.runs.store import current_user, open_run_store
    from stockman.app.runs.workspace import RunWorkspace
    from stockman.cli.live.view import LivePlan, live_view
    from stockman.cli.runs.report import RunResult, report_problems_as_events
    from stockman.engine.context import RunSettings, StopRequest
    from stockman.engine.lifecycle import RunOptions

    clock = SystemTimekeeper()

    async def done() -> RunResult:
        stop = StopRequest()
        began = clock.now()
        workspace = RunWorkspace(directory, os.environ, clock, SystemEntropy())
        async with (
            open_run_store(directory, os.environ, clock) as home,
            open_clients(workspace, clock, asked.admin) as ports,
        ):
            found = await recorded_run(home, asked.run, clock)
            watched = LivePlan(plan=found.plan, before=found.entries, stop=stop)
            async with live_view(watched, clock, asked.output) as watcher:
                with interruptible(stop):
                    settings = RunSettings(max_parallel=asked.max_parallel)
                    way = RunOptions(
                        by=current_user(), stop=stop, settings=settings, watchers=(watcher,)
                    )
                    outcome = await act(home, found.run, ports, way)
        seconds = (clock.now() - began).total_seconds()
        return RunResult(outcome=outcome, plan=found.plan, seconds=seconds)

    with report_problems_as_events(asked.output, clock):
        return asyncio.run(done())


def exit_status(outcome: RunOutcome) -> Exit:
    """What the exit status says of a run."""
    from stockman.app.runs.apply import waits_for_push, waits_for_window
    from stockman.engine.state import RunResult, StepProgress

    if waits_for_push(outcome) or waits_for_window(outcome):
        return Exit.CHANGES
    match outcome.result:
        case RunResult.DONE | RunResult.ABORTED:
            return Exit.DONE
        case RunResult.REFUSED:
            return Exit.REFUSED
        case RunResult.PAUSED:
            return Exit.INTERRUPTED
        case RunResult.FAILED:
            steps = outcome.state.steps.values()
            changed = any(one.progress is StepProgress.DONE and not one.already for one in steps)
            return Exit.PARTLY if changed else Exit.FAILED
