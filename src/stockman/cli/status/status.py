"""`stockman status`: one map of everything, with what to do about what is wrong."""

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
        "stockman status": "everything at a glance, problems first",
        "stockman status --wait --timeout 15m": "wait until everything works",
        "stockman status --watch": "look again and again",
        "stockman status -o json": "for programs",
    }
)
@click.option("--wait", is_flag=True, help="Wait until everything works.")
@click.option(
    "--timeout",
    type=Duration(),
    default="10m",
    show_default=True,
    metavar="SPAN",
    help="How long to wait at most, such as 90s or 10m.",
)
@click.option("--watch", is_flag=True, help="Look again and again, until Ctrl-C.")
@click.option("--all", "every", is_flag=True, help="List every node, however many there are.")
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
    """Show how everything is: Proxmox VE, Talos, etcd, Kubernetes, Flux and more.

    Problems come first, each with what to do next; then every part, and every node from its VM
    over its machine to its kubelet. Nothing is changed. What could not be found out is shown as
    unknown, and never as good. Of many nodes, those that are well are counted. Exits with 0 when
    everything works, with 1 when something does not or is unknown.
    """
    if wait and watch:
        raise click.UsageError("--wait ends and --watch does not: give one of them", ctx)
    directory, screen = options.directory(ctx), current_screen()
    if watch:
        asyncio.run(_watch(directory, output, screen, every=every))
    found = asyncio.run(_read_status(directory, screen, timeout if wait else None))
    show_status(found, output, every=every)
    return Exit.DONE if found.healthy else Exit.FAILED


def show_status(found: Status, output: Output, *, every: bool = False) -> None:
    """Print a status."""
    from stockman.cli.status.view import status_data, status_lines

    show(
        status_data(found) if output is not Output.TABLE else found,
        kind="Status",
        output=output,
        human=lambda _, screen: status_lines(found, screen, every=every),
    )


def workspace_of(directory: Path) -> SessionContext:
    """Where we look, with the clock and the dice of this machine."""
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
    from stockman.cli.status.waiting import waiting_view

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
        async for found in watch_status(looker):
            if redraws:
                screen.data(_frame(status_lines(found, screen, every=every), screen))
            else:
                show_status(found, output, every=every)
                if output is Output.TABLE:
                    screen.data("")


def _frame(lines: Iterable[str], screen: Screen) -> str:
    """Lines over what was there, as many as fit."""
    made, room = list(lines), max(screen.notes_height - 2, 1)
    if len(made) > room:
        made = [*made[: room - 1], f"and {len(made) - room + 1} lines more"]
    return _HOME + "\n".join(f"{line}{_CLEAR_LINE}" for line in made) + _CLEAR_BELOW
