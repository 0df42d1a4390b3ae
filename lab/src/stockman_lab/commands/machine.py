"""`stockman lab machine`: the Talos machines of a lab, and the console of one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.output import Output, show
from stockman.cli.terminal.screen import Screen, current_screen
from stockman.cli.terminal.styles import escape_control
from stockman.cli.terminal.tables import Cell, table
from stockman_lab.commands import options as lab_options
from stockman_lab.commands.completion import complete_lab_machines

if TYPE_CHECKING:
    from stockman_lab.commands.runtime.directories import LabFiles


@command(
    name="machine",
    examples={
        "stockman lab machine": "all Talos machines, with their stages",
        "stockman lab machine talos-neo": "the console of one: dashboard and serial log",
        "stockman lab machine talos-neo --log --follow": "its serial log, until Ctrl-C",
    },
)
@click.argument("name", required=False, shell_complete=complete_lab_machines)
@click.option("--log", "only_log", is_flag=True, help="Only the serial log.")
@click.option(
    "-f", "--follow", is_flag=True, help="Go on with what the machine says, until Ctrl-C."
)
@options.output
@lab_options.state
@click.pass_context
def lab_machine(  # noqa: PLR0913  # one for each option
    ctx: click.Context,
    name: str | None,
    only_log: bool,
    follow: bool,
    output: Output,
    state: str | None,
) -> None:
    """Show the Talos machines of a running lab, or the console of one.

    A machine is named by its host name, its virtual machine, or its address. The console is what
    stands on its screen: a dashboard, and under it what kernel and Talos say.
    """
    from stockman_lab.commands.runtime.consoles import machine_console, machine_rows

    files = lab_options.places(ctx, state)
    if name is None:
        if only_log or follow:
            raise click.UsageError("--log and --follow need the NAME of a machine", ctx)
        rows = machine_rows(files)
        show(rows, kind="LabMachines", output=output, human=machine_table)
        return
    if follow and output is not Output.TABLE:
        raise click.UsageError("--follow prints lines, and goes with no other --output", ctx)
    console = machine_console(files, name)
    if only_log:
        show(console["log"], kind="LabMachineLog", output=output, human=_log_lines)
    else:
        show(console, kind="LabMachine", output=output, human=_console_lines)
    if follow:
        _follow(files, name, console["log"])


def _follow(files: LabFiles, name: str, log: list[str]) -> None:
    from stockman_lab.commands.runtime.consoles import followed

    screen = current_screen()
    for line in followed(files, name, log):
        screen.data(escape_control(line))
    screen.note("the lab was stopped")


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


def _log_lines(log: list[str], screen: Screen) -> Iterator[str]:
    del screen
    return (escape_control(line) for line in log)


def _console_lines(console: dict[str, Any], screen: Screen) -> Iterator[str]:
    from stockman_lab.commands.dashboard import dashboard

    yield from dashboard(console, screen)
    yield ""
    yield from _log_lines(console["log"], screen)
