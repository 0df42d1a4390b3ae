"""`stockman lab machine`: the Talos machines of a lab."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.output import Output, show
from stockman.cli.terminal.screen import Screen
from stockman.cli.terminal.tables import Cell, table
from stockman_lab.commands import options as lab_options

if TYPE_CHECKING:
    from stockman_lab.commands.runtime.directories import LabFiles

if TYPE_CHECKING:
    from stockman_lab.commands.runtime.directories import LabFiles


@command(
    name="machine",
    examples={
        "stockman lab machine": "all Talos machines, with their stages",
        "stockman lab machine -o json": "the same for programs",
    },
)
@options.output
@lab_options.state
@click.pass_context
def lab_machine(ctx: click.Context, output: Output, state: str | None) -> None:
    """Show the Talos machines of a running lab."""
    rows = machine_rows(lab_options.places(ctx, state))
    show(rows, kind="LabMachines", output=output, human=machine_table)


def machine_rows(files: LabFiles) -> list[dict[str, Any]]:
    """All machines by name: address, stage, version, whether they are ready."""
    from stockman_lab.commands.runtime.remote import ask

    return cast("list[dict[str, Any]]", ask(files, "machines"))


def machine_table(rows: list[dict[str, Any]], screen: Screen) -> Iterator[str]:
    """A line for each machine."""
    yield from table(
        ["MACHINE", "ADDRESS", "STAGE", "VERSION", "READY"],
        [
            [
                row["name"],
                row["address"] or "-",
                row["stage"],
                row["version"] or "-",
                Cell("yes", "good") if row["ready"] else Cell("no", "warning"),
            ]
            for row in rows
        ],
        width=screen.width,
        paint=screen.paint,
    )
