"""`stockman status`: show the status of the cluster and all systems."""

from __future__ import annotations

import asyncio
import os
from datetime import timedelta
from typing import TYPE_CHECKING

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.exit import Exit
from stockman.cli.output import Output, show
from stockman.cli.terminal.screen import Screen, current_screen
from stockman.cli.types import Duration

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from stockman.app.runs.session import SessionContext
    from stockman.assessment.status.status import Status

_HOME, _CLEAR_LINE, _CLEAR_BELOW = "\x1b[H", "\x1b[K", "\x1b[J"


@command(
    examples={
        "stockman status": "show the status, problems first",
        "stockman status --wait --timeout 15m": "wait until everything is healthy",
        "stockman status --watch": "update the status until Ctrl-C",
        "stockman status -o json": "print the status as JSON",
    }
)
@click.option("--wait", is_flag=True, help="Wait until everything is healthy.")
@click.option(
    "--timeout",
    type=Duration(),
    default="10m",
    show_default=True,
    metavar="SPAN",
    help="Maximum time to wait, such as 90s or 10m.",
)
@click.option("--watch", is_flag=True, help="Update the status until Ctrl-C.")
@click.option("--all", "every", is_flag=True, help="List every node, also in large clusters.")
@options.output
@click.pass_context
def status(  # noqa: PLR0913 - one parameter per option
    ctx: click.Context,
    wait: bool,
    timeout: timedelta,
    watch: bool,
    every: bool,
    output: Output,
) -> int:
    """Show the status of Proxmox VE, Talos, etcd, Kubernetes, Flux and more.

    Problems are listed first, each with a fix, followed by every part and by every node with its
    VM, machine and kubelet. Nothing is changed. What could not be read is shown as unknown, never
    as healthy. In large clusters healthy nodes are only counted. The exit status is 0 if everything
    is healthy, 1 otherwise.
    """
    if wait and watch:
        raise click.UsageError("--wait and --watch cannot be combined", ctx)
    directory, screen = options.directory(ctx), current_screen()
    if watch:
        asyncio.run(_watch(directory, output, screen, every=every))
    current_status = asyncio.run(_read_status(directory, screen, timeout if wait else None))
    show_status(current_status, output, every=every)
    return Exit.DONE if current_status.healthy else Exit.FAILED


def show_status(report: Status, output: Output, *, every: bool = False) -> None:
    """Print a status."""
    from stockman.cli.status.view import status_data, status_lines

    show(
        status_data(report) if output is not Output.TABLE else report,
        kind="Status",
        output=output,
        human=lambda _, screen: status_lines(report, screen, every=every),
    )


def workspace_of(directory: Path) -> SessionContext:
    """Return the directory, environment, clock and randomness to read the status with."""
    from stockman.adapters.system import SystemEntropy, SystemTimekeeper
    from stockman.app.runs.session import SessionContext

    return SessionContext(
        directory=directory,
        environment=os.environ,
        clock=SystemTimekeeper(),
        entropy=SystemEntropy(),
    )


async def _read_status(directory: Path, screen: Screen, longest: timedelta | None) -> Status:
    from stockman.app.status.observation import open_observer, wait_until_healthy
    from stockman.cli.status.view import waiting_view

    async with open_observer(workspace_of(directory)) as looker:
        if longest is None:
            return await looker.status()
        view = waiting_view(screen, longest)
        try:
            return await wait_until_healthy(looker, longest, view)
        finally:
            view.close()


async def _watch(directory: Path, output: Output, screen: Screen, *, every: bool) -> None:
    from stockman.app.status.observation import open_observer, watch_status
    from stockman.cli.status.view import status_lines

    redraws = output is Output.TABLE and screen.width is not None and screen.can_redraw
    async with open_observer(workspace_of(directory)) as looker:
        async for latest in watch_status(looker):
            if redraws:
                screen.data(_frame(status_lines(latest, screen, every=every), screen))
            else:
                show_status(latest, output, every=every)
                if output is Output.TABLE:
                    screen.data("")


def _frame(lines: Iterable[str], screen: Screen) -> str:
    """Return the lines of a frame that overwrites the previous one, limited to the screen."""
    shown, room = list(lines), max(screen.notes_height - 2, 1)
    if len(shown) > room:
        shown = [*shown[: room - 1], f"and {len(shown) - room + 1} more lines"]
    return _HOME + "\n".join(f"{line}{_CLEAR_LINE}" for line in shown) + _CLEAR_BELOW
