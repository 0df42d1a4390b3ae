"""`stockman runs list`, `show`, `export` and `metrics`: inspect runs by their journals."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.completion import complete_runs
from stockman.cli.exit import Exit
from stockman.cli.metrics_output import MetricsOutput, metric_output
from stockman.cli.output import Output, show
from stockman.cli.terminal.screen import Screen, current_screen
from stockman.cli.terminal.styles import escape_control
from stockman.cli.terminal.tables import Cell, table

if TYPE_CHECKING:
    from datetime import datetime

    from stockman.app.runs.history import RunRow, RunView
    from stockman.assessment.prometheus import Metric
    from stockman.engine.lifecycle import RunHome
    from stockman.ports.system import Clock

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
    from stockman.app.runs.store import open_run_store

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
    from stockman.assessment.prometheus import prometheus_text

    del screen
    yield from prometheus_text(metrics).splitlines()
