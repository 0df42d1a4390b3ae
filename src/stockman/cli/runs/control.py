"""`stockman runs resume` and `abort`."""

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
    from stockman.cli.plans.report import RunResult
    from stockman.engine.executor import RunOutcome
    from stockman.engine.lifecycle import RunHome, RunOptions
    from stockman.steps.ports import Ports

    Act = Callable[[RunHome, str, Ports, RunOptions], Awaitable[RunOutcome]]


@command(
    name="resume",
    examples={
        "stockman runs resume": "resume the newest run",
        "stockman runs resume 20260301t060000z-5f2c1a": "resume this run",
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
    """Resume a run that was interrupted, paused or failed.

    RUN defaults to the newest run. Every step is checked before it is executed, so nothing is done
    twice. Press Ctrl-C once to finish the running steps and release all holds, twice to stop
    immediately.

    The exit status is that of `stockman apply`: 0 if the run succeeded, 1 if it failed before any
    change, 2 if rendered files have to be committed and pushed first, 3 if a gate refused it, 4 if
    it failed after some changes, 130 after Ctrl-C. With -o json every journal entry is printed as a
    JSON line; the last line is the result.
    """
    from stockman.cli.plans.report import exit_status, show_result
    from stockman.engine.lifecycle import resume_run

    request = RunRequest(run=run, output=output, admin=login(admin), max_parallel=max_parallel)
    ended = _continue_run(options.directory(ctx), request, resume_run)
    show_result(ended, output)
    return exit_status(ended.outcome)


@command(
    name="abort",
    examples={
        "stockman runs abort --yes": "abort the newest run without a prompt",
    },
)
@click.argument("run", required=False, shell_complete=complete_runs)
@options.yes_option
@options.output
@click.pass_context
def runs_abort(ctx: click.Context, run: str | None, yes: bool, output: Output) -> int:
    """Abort a run and release its holds.

    RUN defaults to the newest run. Changes that were made are kept; `stockman plan` shows what
    remains. The exit status is 1 if a hold could not be released. With -o json every journal entry
    is printed as a JSON line; the last line is the result.
    """
    from stockman.cli.plans.report import show_result
    from stockman.engine.lifecycle import abort_run

    if not confirm(f"Abort {run or 'the newest run'}?", yes=yes):
        return Exit.FAILED
    ended = _continue_run(options.directory(ctx), RunRequest(run=run, output=output), abort_run)
    show_result(ended, output)
    return Exit.FAILED if ended.outcome.problems else Exit.DONE


@record
class RunRequest:
    """A run and the options to continue it with."""

    run: str | None
    """None: the newest."""
    output: Output
    admin: Login | None = field(default=None, repr=False)
    """Login for Proxmox VE. None: from the environment."""
    max_parallel: int = MAX_PARALLEL


def _continue_run(directory: Path, request: RunRequest, act: Act) -> RunResult:
    from stockman.adapters.system import SystemEntropy, SystemTimekeeper
    from stockman.app.runs.apply import interruptible
    from stockman.app.runs.connections import open_clients
    from stockman.app.runs.history import load_run
    from stockman.app.runs.store import current_user, open_run_store
    from stockman.app.runs.workspace import RunWorkspace
    from stockman.cli.live.view import LivePlan, live_view
    from stockman.cli.plans.report import RunResult, report_problems_as_events
    from stockman.engine.context import RunSettings, StopRequest
    from stockman.engine.lifecycle import RunOptions

    clock = SystemTimekeeper()

    async def done() -> RunResult:
        stop = StopRequest()
        began = clock.now()
        workspace = RunWorkspace(directory, os.environ, clock, SystemEntropy())
        async with (
            open_run_store(directory, os.environ, clock) as home,
            open_clients(workspace, clock, request.admin) as ports,
        ):
            progress = await load_run(home, request.run, clock)
            watched = LivePlan(plan=progress.plan, before=progress.entries, stop=stop)
            async with live_view(watched, clock, request.output) as watcher:
                with interruptible(stop):
                    settings = RunSettings(max_parallel=request.max_parallel)
                    run_options = RunOptions(
                        by=current_user(), stop=stop, settings=settings, watchers=(watcher,)
                    )
                    outcome = await act(home, progress.run, ports, run_options)
        seconds = (clock.now() - began).total_seconds()
        return RunResult(outcome=outcome, plan=progress.plan, seconds=seconds)

    with report_problems_as_events(request.output, clock):
        return asyncio.run(done())
