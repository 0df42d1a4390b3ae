"""`stockman lab status|env|log`: what a lab is."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from shlex import quote
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


@command(
    name="status",
    examples={
        "stockman lab status": "hosts, guests and the time inside",
        "stockman lab status -o json": "the same for programs",
    },
)
@options.output
@lab_options.state
@click.pass_context
def lab_status(ctx: click.Context, output: Output, state: str | None) -> None:
    """Show what a running lab holds, and what time it is there."""
    from stockman_lab.commands.runtime.remote import ask

    found = cast("dict[str, Any]", ask(lab_options.places(ctx, state), "status"))
    show(found, kind="LabStatus", output=output, human=_status_lines)


def _status_lines(status: dict[str, Any], screen: Screen) -> Iterator[str]:
    moment = datetime.fromtimestamp(status["now"], UTC)
    speed = "max" if status["speed"] is None else f"{status['speed']:g}"
    yield f"time {moment:%Y-%m-%d %H:%M:%S} UTC, speed {speed}, faults {status['faults']}"
    rows = [
        [cluster["name"], cluster["profile"], host["name"], host["address"],
         "on" if host["power"] else "off"]
        for cluster in status["clusters"]
        for host in cluster["hosts"]
    ]  # fmt: skip
    yield from table(["CLUSTER", "PVE", "HOST", "ADDRESS", "POWER"], rows, width=screen.width)
    for cluster in status["clusters"]:
        yield (
            f"{cluster['name']}: {cluster['guests']} guests, {cluster['running']} running,"
            f" {cluster['tasks']} tasks"
        )
    if status["machines"]:
        yield ""
        yield from machine_table(status["machines"], screen)


@command(
    name="env",
    examples={
        'eval "$(stockman lab env)"': "set the variables in this shell",
        'eval "$(stockman lab env --unset)"': "remove them again",
        "stockman lab env -o json": "the same for programs",
    },
)
@click.option("--unset", is_flag=True, help="Print how to remove the variables from a shell.")
@options.output
@lab_options.state
@click.pass_context
def lab_env(ctx: click.Context, unset: bool, output: Output, state: str | None) -> None:
    """Print the variables by which clients find a running lab."""
    from stockman_lab.commands.runtime.remote import ask

    found = cast("dict[str, str]", ask(lab_options.places(ctx, state), "environment"))
    if unset:
        show(
            sorted(found),
            kind="LabVariables",
            output=output,
            human=lambda names, _: (f"unset {' '.join(names)}",),
        )
        return
    show(
        found,
        kind="LabEnvironment",
        output=output,
        human=lambda value, _: (f"export {name}={quote(text)}" for name, text in value.items()),
    )


@command(
    name="log",
    examples={
        "stockman lab log": "the last hundred requests",
        "stockman lab log --lines 1000 -o json": "more of them, for programs",
    },
)
@click.option("--lines", type=click.IntRange(1, 10_000), default=100, show_default=True,
              help="How many.")  # fmt: skip
@options.output
@lab_options.state
@click.pass_context
def lab_log(ctx: click.Context, lines: int, output: Output, state: str | None) -> None:
    """Show the requests that a running lab answered last."""
    from stockman_lab.commands.runtime.remote import ask

    found = cast("list[str]", ask(lab_options.places(ctx, state), "log", lines=lines))
    show(found, kind="LabLog", output=output, human=lambda value, _: value)
