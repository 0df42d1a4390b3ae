"""`stockman runs`: inspect, resume and abort runs by their journals."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.completion import complete_runs
from stockman.cli.options import MetricsOutput, metric_output
from stockman.cli.output import Exit, Output, show
from stockman.cli.plans.options import admin as admin_option
from stockman.cli.plans.options import login
from stockman.cli.plans.options import max_parallel as max_parallel_option
from stockman.cli.terminal.prompts import confirm
from stockman.cli.terminal.screen import Screen, current_screen
from stockman.cli.terminal.styles import escape_control
from stockman.cli.terminal.tables import Cell, table
from stockman.model.parallelism import MAX_PARALLEL
from stockman.model.record import record

if TYPE_CHECKING:
    from datetime import datetime

    from stockman.adapters.proxmox.credentials import Login
    from stockman.app.runs.history import RunRow, RunView
    from stockman.assessment.status.metrics import Metric
    from stockman.cli.plans.report import RunResult
    from stockman.engine.executor import RunOutcome
    from stockman.engine.lifecycle import RunHome, RunOptions
    from stockman.ports.system import Clock
    from stockman.steps.ports import Ports

    Act = Callable[[RunHome, str, Ports, RunOptions], Awaitable[RunOutcome]]

T = TypeVar("T")
_STYLES = {
    "done": "good",
    "failed": "error",
    "refused": "error",
    "unknown": "warning",
    "paused": "warning",
    "open": "warning",
    "aborted": "faint",
    "waiting": "faint",
}


@command(
    name="list",
    examples={
        "stockman runs list": "list all runs, the oldest first",
        "stockman runs list -o name": "print only the names of runs",
    },
)
@options.output_or_name
@click.pass_context
def runs_list(ctx: click.Context, output: Output) -> int:
    """List runs and their results.

    Journals are stored where the lock is, see `lock.home` in cluster.yaml. An open run is either
    executing now or was interrupted; use `stockman runs resume` to resume it.
    """
    from stockman.app.runs.history import list_runs

    runs = read_runs(options.directory(ctx), list_runs)
    show(
        runs,
        kind="Runs",
        output=output,
        human=_run_rows,
        names=lambda rows: (row.run for row in rows),
    )
    if not runs:
        current_screen().note("There are no runs yet.")
    return Exit.DONE


@command(
    name="show",
    examples={
        "stockman runs show": "show the newest run",
        "stockman runs show 20260301t060000z-5f2c1a -o json": "print this run as JSON",
    },
)
@click.argument("run", required=False, shell_complete=complete_runs)
@options.output
@click.pass_context
def runs_show(ctx: click.Context, run: str | None, output: Output) -> int:
    """Show the steps of a run.

    RUN defaults to the newest run. Failed attempts are listed with their problem code, even if a
    later attempt succeeded, and so are holds that were not released.
    """
    from stockman.app.runs.history import show_run

    run_view = read_runs(options.directory(ctx), lambda home, clock: show_run(home, run, clock))
    show(run_view, kind="Run", output=output, human=_run_view)
    return Exit.DONE


@command(
    name="export",
    examples={
        "stockman runs export > run.json": "save plan and journal of the newest run",
    },
)
@click.argument("run", required=False, shell_complete=complete_runs)
@options.output_option((Output.JSON, Output.YAML))
@click.pass_context
def runs_export(ctx: click.Context, run: str | None, output: Output) -> int:
    """Print the plan and the journal of a run.

    They contain no secrets, so they can be attached to a bug report.
    """
    from stockman.app.runs.history import export_run

    export = read_runs(options.directory(ctx), lambda home, clock: export_run(home, run, clock))
    show(export, kind="RunExport", output=output, human=lambda _, screen: ())
    return Exit.DONE


def read_runs(directory: Path, query: Callable[[RunHome, Clock], Awaitable[T]]) -> T:
    """Read runs of a directory."""
    from stockman.adapters.system import SystemTimekeeper
    from stockman.app.runs.history import open_run_store

    async def run_query() -> T:
        clock = SystemTimekeeper()
        async with open_run_store(directory, os.environ, clock) as home:
            return await query(home, clock)

    return asyncio.run(run_query())


def _run_rows(rows: tuple[RunRow, ...], screen: Screen) -> Iterator[str]:
    headers = ("RUN", "CLUSTER", "RESULT", "STEPS", "HELD", "STARTED", "BY")
    cells = [
        (
            Cell(row.run, "name"),
            row.cluster,
            Cell(row.result, _STYLES.get(row.result, "")),
            f"{row.done}/{row.steps}",
            str(row.held),
            _format_time(row.started),
            row.by,
        )
        for row in rows
    ]
    return table(headers, cells, width=screen.width, paint=screen.paint) if cells else iter(())


def _run_view(view: RunView, screen: Screen) -> Iterator[str]:
    from stockman.engine.holds import hold_summary

    row = view.run
    yield f"run {row.run} of cluster {row.cluster}: {row.result}, {row.done} of {row.steps} steps"
    yield f"started {_format_time(row.started)} by {row.by or 'unknown'}"
    yield from view.notes
    if view.steps:
        yield ""
        yield from _step_rows(view, screen)
        yield from _failure_lines(view)
    for held in view.held:
        yield f"hold since {_format_time(held.since)}: {hold_summary(held)}"


def _step_rows(view: RunView, screen: Screen) -> Iterator[str]:
    headers = ("STEP", "STATE", "ATTEMPTS", "ACTION", "MESSAGE")
    cells = [
        (
            Cell(step.id, "name"),
            Cell(step.state.progress.value, _STYLES.get(step.state.progress.value, "")),
            str(step.state.attempts),
            step.summary,
            str((step.state.problem or {}).get("what", "")) or step.state.gate,
        )
        for step in view.steps
    ]
    return table(headers, cells, width=screen.width, paint=screen.paint)


def _failure_lines(view: RunView) -> Iterator[str]:
    failures = sorted(
        (
            (failure.at, step.id, failure)
            for step in view.steps
            for failure in step.state.failed_attempts
        ),
        key=lambda row: row[:2],
    )
    if failures:
        yield ""
        yield "failed attempts:"
    for at, step, failure in failures:
        attempt = f"attempt {failure.attempt}" if failure.attempt else "before its start"
        yield escape_control(
            f"  {_format_time(at)} {step}, {attempt}: {failure.what} ({failure.code})"
        )


def _format_time(at: datetime | None) -> str:
    return "never" if at is None else f"{at:%Y-%m-%d %H:%M:%S}"


_FOLDER = "/var/lib/node_exporter"


@command(
    name="metrics",
    examples={
        "stockman runs metrics": "print metrics in the Prometheus text format",
        "stockman runs metrics -o json": "print them as JSON",
        f"stockman runs metrics --textfile {_FOLDER}/stockman.prom": (
            "write them for the node exporter"
        ),
    },
)
@click.option(
    "--textfile",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write to this file atomically instead of stdout.",
)
@metric_output
@click.pass_context
def runs_metrics(ctx: click.Context, textfile: Path | None, output: MetricsOutput) -> int:
    """Print Prometheus metrics of the newest run.

    The metrics are computed from its journal: progress, result, durations of steps and gates,
    active holds, and the time of the last successful run.
    """
    from stockman.app.runs.metrics import run_history, run_metrics

    async def compute_metrics(home: RunHome, clock: Clock) -> tuple[Metric, ...]:
        return run_metrics(await run_history(home, clock), clock.now())

    metrics = read_runs(options.directory(ctx), compute_metrics)
    if textfile is None:
        shown = Output.TABLE if output is MetricsOutput.PROMETHEUS else Output(output.value)
        show(metrics, kind="RunMetrics", output=shown, human=_metrics_lines)
        return Exit.DONE
    from stockman.adapters.system import SystemEntropy
    from stockman.app.runs.metrics import write_textfile

    write_textfile(textfile, metrics, SystemEntropy())
    current_screen().note(f"Wrote {textfile}")
    return Exit.DONE


def _metrics_lines(metrics: tuple[Metric, ...], screen: Screen) -> Iterator[str]:
    from stockman.assessment.status.metrics import prometheus_text

    del screen
    yield from prometheus_text(metrics).splitlines()


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
    twice. If the configuration changed since the run was planned, it is refused: `stockman apply`
    plans again. Press Ctrl-C once to finish the running steps and release all holds, twice to stop
    immediately.

    The exit status is that of `stockman apply`: 0 if the run succeeded, 1 if it failed before any
    change, 2 if rendered files have to be committed and pushed first, 3 if a gate refused it, 4 if
    it failed after some changes, 130 after Ctrl-C. With -o json every journal entry is printed as a
    JSON line; the last line is the result.
    """
    from stockman.cli.plans.report import exit_status, show_result
    from stockman.engine.lifecycle import resume_run

    request = RunRequest(
        run=run,
        output=output,
        admin=login(admin),
        max_parallel=max_parallel,
        needs_same_files=True,
    )
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
    needs_same_files: bool = False
    """Whether the files must not have changed since the run was planned."""


def _continue_run(directory: Path, request: RunRequest, act: Act) -> RunResult:
    from stockman.adapters.system import SystemEntropy, SystemTimekeeper
    from stockman.app.runs.apply import interruptible, refuse_changed_files
    from stockman.app.runs.connections import open_clients
    from stockman.app.runs.history import current_user, load_run, open_run_store
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
            open_run_store(directory, os.environ, clock) as unsigned,
            open_clients(workspace, clock, request.admin, grants_access=True) as ports,
        ):
            home = replace(unsigned, signer=workspace.signer)
            progress = await load_run(home, request.run, clock)
            if request.needs_same_files:
                refuse_changed_files(progress.plan, workspace.files_digest, progress.run)
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
