"""`stockman lab connect`: configuration files that lead to a lab."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.output import Output, show
from stockman.cli.terminal.screen import Screen, current_screen
from stockman.cli.terminal.tables import Cell, table
from stockman_lab.commands import options as lab_options

if TYPE_CHECKING:
    from stockman_lab.commands.runtime.connect import Written


@command(
    name="connect",
    examples={
        "stockman lab connect": "make the files of this directory lead to the lab",
        "stockman lab connect -o json": "the same for programs",
    },
)
@options.output
@lab_options.state
@click.pass_context
def lab_connect(ctx: click.Context, output: Output, state: str | None) -> None:
    """Write into cluster.yaml where a running lab answers.

    Three keys lead to a lab as they lead to any other Proxmox VE: the address of its API, the
    certificate authority of its hosts, which is copied beside the file, and the address of its
    Image Factory. Comments and everything else stay as they are.
    """
    from stockman_lab.commands.runtime.connect import connect

    found = connect(lab_options.places(ctx, state), options.directory(ctx))
    show(found, kind="LabConnection", output=output, human=_lines)
    env = f"stockman lab env{lab_options.named(state)}"
    current_screen().note(f'next: `eval "$({env})"` gives this shell a token of its root')


def _lines(changes: tuple[Written, ...], screen: Screen) -> Iterator[str]:
    rows = [
        (
            Cell(one.key, "name"),
            one.value,
            Cell("written", "good") if one.is_new else Cell("kept", "faint"),
        )
        for one in changes
    ]
    yield from table(("KEY", "VALUE", "STATE"), rows, width=screen.width, paint=screen.paint)
