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
from stockman.cli.complete import complete_runs
from stockman.cli.exit import Exit
from stockman.cli.output import Output, show
from stockman.cli.paint import visible
from stockman.cli.screen import Screen, current
from stockman.cli.tables import Cell, table

if TYPE_CHECKING:
    from datetime import datetime

    from stockman.app.runs import RunRow, RunView
    from stockman.engine.carrying_out import Home
    from stockman.ports.clock import Clock

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
    from stockman.app.runs import listed

    found = read(options.directory(ctx), listed)
    show(
        found,
        kind="Runs",
        output=output,
        human=_rows,
        names=lambda rows: (row.run for row in rows),
    )
    if not found:
        current().note("there are no runs yet")
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
    from stockman.app.runs import shown

    found = read(options.directory(ctx), lambda home, clock: shown(home, run, clock))
    show(found, kind="Run", output=output, human=_view)
    return Exit.DONE


@command(
    name="export",
    examples={
        "stockman runs export > run.json": "keep plan and journal of the newest run",
    },
)
@click.argument("run", required=False, shell_complete=complete_runs)
@options.outputs((Output.JSON, Output.YAML))
@click.pass_context
def runs_export(ctx: click.Context, run: str | None, output: Output) -> int:
    """Print everything that is kept of a run: its plan and its journal.

    Neither holds a secret, so it can be given to somebody who is to find out what happened.
    """
    from stockman.app.runs import exported

    found = read(options.directory(ctx), lambda home, clock: exported(home, run, clock))
    show(found, kind="RunExport", output=output, human=lambda _, screen: ())
    return Exit.DONE


def read(directory: Path, what: Callable[[Home, Clock], Awaitable[T]]) -> T:
    """Read something of the runs of a directory."""
    from stockman.adapters.system import SystemTimekeeper
    from stockman.app.run_home import opened_home

    async def told() -> T:
        clock = SystemTimekeeper()
        async with opened_home(directory, os.environ, clock) as home:
            return await what(home, clock)

    return asyncio.run(told())


def _rows(rows: tuple[RunRow, ...], screen: Screen) -> Iterator[str]:
    headers = ("RUN", "CLUSTER", "RESULT", "STEPS", "HELD", "STARTED", "BY")
    cells = [
        (
            Cell(row.run, "name"),
            row.cluster,
            Cell(row.result, _STYLES.get(row.result, "")),
            f"{row.done}/{row.steps}",
            str(row.held),
            _moment(row.started),
            row.by,
        )
        for row in rows
    ]
    return table(headers, cells, width=screen.width, paint=screen.paint) if cells else iter(())


def _view(view: RunView, screen: Screen) -> Iterator[str]:
    from stockman.engine.holding import hold_name

    row = view.run
    yield f"run {row.run} of cluster {row.cluster}: {row.result}, {row.done} of {row.steps} steps"
    yield f"started {_moment(row.started)} by {row.by or 'nobody'}"
    yield from view.notes
    if view.steps:
        yield ""
        yield from _steps(view, screen)
        yield from _troubles(view)
    for held in view.held:
        yield f"holds since {_moment(held.since)}: {hold_name(held)}"


def _steps(view: RunView, screen: Screen) -> Iterator[str]:
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


def _troubles(view: RunView) -> Iterator[str]:
    found = sorted(
        ((one.at, step.id, one) for step in view.steps for one in step.state.troubles),
        key=lambda row: row[:2],
    )
    if found:
        yield ""
        yield "attempts that failed:"
    for at, step, one in found:
        attempt = f"attempt {one.attempt}" if one.attempt else "before it began"
        yield visible(f"  {_moment(at)} {step}, {attempt}: {one.what} ({one.code})")


def _moment(at: datetime | None) -> str:
    return "never" if at is None else f"{at:%Y-%m-%d %H:%M:%S}"
