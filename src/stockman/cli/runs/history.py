"""`stockman runs list`, `show` and `export`: runs as their journals tell them."""

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
from stockman.cli.output import Output, show
from stockman.cli.terminal.screen import Screen, current_screen
from stockman.cli.terminal.styles import escape_control
from stockman.cli.terminal.tables import Cell, table

if TYPE_CHECKING:
    from datetime import datetime

    from stockman.app.runs.history import RunRow, RunView
    from stockman.engine.lifecycle import RunHome
    from stockman.ports.system import Clock
from typing import TYPE_CHECKING

from stockman.cli.metrics_output import MetricsOutput, metric_output

if TYPE_CHECKING:
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
        "stockman runs list": "every run, the oldest first",
        "stockman runs list -o name": "their names alone",
    },
)
@options.output_or_name
@click.pass_context
def runs_list(ctx: click.Context, output: Output) -> int:
    """List every run, and how it ended.

    Runs are kept where the lock is, see `lock.home` in cluster.yaml. One that is open runs right
    now or was killed; `stockman runs resume` goes on with the latter.
    """
    from stockman.app.runs.history import list_runs

    found = read_runs(options.directory(ctx), list_runs)
    show(
        found,
        kind="Runs",
        output=output,
        human=_run_rows,
        names=lambda rows: (row.run for row in rows),
    )
    if not found:
        current_screen().note("there are no runs yet")
    return Exit.DONE


@command(
    name="show",
    examples={
        "stockman runs show": "the newest run, step by step",
        "stockman runs show 20260301t060000z-5f2c1a -o json": "another one, for programs",
    },
)
@click.argument("run", required=False, shell_complete=complete_runs)
@options.output
@click.pass_context
def runs_show(ctx: click.Context, run: str | None, output: Output) -> int:
    """Show how a run went, step by step.

    Without RUN, the newest. Attempts that failed are listed with the code of their problem, also
    where a later one did not; so is what it took and has not given back.
    """
    from stockman.app.runs.history import show_run

    found = read_runs(options.directory(ctx), lambda home, clock: show_run(home, run, clock))
    show(found, kind="Run", output=output, human=_run_view)
    return Exit.DONE


@command(
    name="export",
    examples={
        "stockman runs export > run.json": "keep plan and journal of the newest run",
    },
)
@click.argument("run", required=False, shell_complete=complete_runs)
@options.output_option((Output.JSON, Output.YAML))
@click.pass_context
def runs_export(ctx: click.Context, run: str | None, output: Output) -> int:
    """Print everything that is kept of a run: its plan and its journal.

    Neither holds a secret, so it can be given to somebody who is to find out what happened.
    """
    from stockman.app.runs.history import export_run

    found = read_runs(options.directory(ctx), lambda home, clock: export_run(home, run, clock))
    show(found, kind="RunExport", output=output, human=lambda _, screen: ())
    return Exit.DONE


def read_runs(directory: Path, what: Callable[[RunHome, Clock], Awaitable[T]]) -> T:
    """Read something of the runs of a directory."""
    from stockman.adapters.system import SystemTimekeeper
    from stockman.app.runs.store import open_run_store

    async def told() -> T:
        clock = SystemTimekeeper()
        async with open_run_store(directory, os.environ, clock) as home:
            return await what(home, clock)

    return asyncio.run(told())


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
    yield f"started {_format_time(row.started)} by {row.by or 'nobody'}"
    yield from view.notes
    if view.steps:
        yield ""
        yield from _step_rows(view, screen)
        yield from _failure_lines(view)
    for held in view.held:
        yield f"holds since {_format_time(held.since)}: {hold_summary(held)}"


def _step_rows(view: RunView, screen: Screen) -> Iterator[str]:
    headers = ("STEP", "STATE", "TRIES", "WHAT", "SAID")
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
    found = sorted(
        ((one.at, step.id, one) for step in view.steps for one in step.state.troubles),
        key=lambda row: row[:2],
    )
    if found:
        yield ""
        yield "attempts that failed:"
    for at, step, one in found:
        attempt = f"attempt {one.attempt}" if one.attempt else "before it began"
        yield escape_control(f"  {_format_time(at)} {step}, {attempt}: {one.what} ({one.code})")


def _format_time(at: datetime | None) -> str:
    return "never" if at is None else f"{at:%Y-%m-%d %H:%M:%S}"


_FOLDER = "/var/lib/node_exporter"


@command(
    name="metrics",
    examples={
        "stockman runs metrics": "the text that Prometheus reads",
        "stockman runs metrics -o json": "the same for programs",
        f"stockman runs metrics --textfile {_FOLDER}/stockman.prom": "for a node exporter",
    },
)
@click.option(
    "--textfile",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write a file instead, whole or not at all.",
)
@metric_output
@click.pass_context
def runs_metrics(ctx: click.Context, textfile: Path | None, output: MetricsOutput) -> int:
    """Print metrics of the newest run, in the text format of Prometheus.

    They are made from its journal: progress, result, times of steps and gates, what is held, and
    when a run last succeeded.
    """
    from stockman.app.runs.metrics import run_history, run_metrics

    async def measured(home: RunHome, clock: Clock) -> tuple[Metric, ...]:
        return run_metrics(await run_history(home, clock), clock.now())

    found = read_runs(options.directory(ctx), measured)
    if textfile is None:
        shown = Output.TABLE if output is MetricsOutput.PROMETHEUS else Output(output.value)
        show(found, kind="RunMetrics", output=shown, human=_metrics_lines)
        return Exit.DONE
    from stockman.adapters.system import SystemEntropy
    from stockman.app.metrics_file import write_textfile

    write_textfile(textfile, found, SystemEntropy())
    current_screen().note(f"wrote {textfile}")
    return Exit.DONE


def _metrics_lines(metrics: tuple[Metric, ...], screen: Screen) -> Iterator[str]:
    from stockman.assessment.prometheus import prometheus_text

    del screen
    yield from prometheus_text(metrics).splitlines()
