"""`stockman config check`: check a machine configuration with the rules of Talos."""

from __future__ import annotations

from typing import BinaryIO

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.exit import Exit
from stockman.cli.output import Output, show
from stockman.cli.problems import problem_data, problem_lines, problem_summary
from stockman.cli.terminal.screen import current_screen

_LINES = ("1.11", "1.12", "1.13", "1.14")
_MODES = ("metal", "cloud")


@command(
    name="check",
    examples={
        "stockman config check worker.yaml": "check a file with the rules of the newest Talos",
        "stockman config check worker.yaml --talos-version 1.13 --mode cloud": (
            "check it for another version and mode"
        ),
        "stockman config check - < worker.yaml": "check a configuration from stdin",
        "stockman config check worker.yaml --strict -o json": "print every problem as JSON, for CI",
    },
)
@click.argument("file", type=click.File("rb"))
@click.option(
    "--mode",
    type=options.Choice(_MODES),
    default=_MODES[0],
    show_default=True,
    help="Mode to validate for: metal if Talos installs itself, cloud if the disk is prepared.",
)
@click.option(
    "--talos-version",
    "line",
    type=options.Choice(_LINES),
    default=_LINES[-1],
    show_default=True,
    help="Talos minor version to validate for.",
)
@click.option("--strict", is_flag=True, help="Treat Talos warnings as errors.")
@options.output
def config_check(file: BinaryIO, mode: str, line: str, strict: bool, output: Output) -> int:
    """Check a machine configuration with the rules of Talos.

    FILE is the machine configuration of one machine, with one or more documents; use - for stdin.
    The result is the same as that of `talosctl validate`, which is not needed. Settings that depend
    on the machine, such as its disks, are not checked. The exit status is 0 if the configuration is
    valid, 1 otherwise.
    """
    from stockman.app.machine_config.check import MAX_BYTES, check_machine
    from stockman.talos.validation.report import RuntimeMode

    name = "stdin" if file.name in ("<stdin>", 0) else str(file.name)
    content = file.read(MAX_BYTES + 1)
    report = check_machine(name, content, talos=line, mode=RuntimeMode(mode), strict=strict)
    problems = list(report.problems)
    if output is not Output.TABLE:
        data = {
            "valid": report.valid,
            "file": report.file,
            "talos": report.talos,
            "mode": report.mode.value,
            "documents": list(report.documents),
            "problems": [problem_data(problem) for problem in problems],
        }
        show(data, kind="MachineCheck", output=output, human=lambda *_: ())
        return Exit.DONE if report.valid else Exit.FAILED
    screen = current_screen()
    if problems:
        # The lines of the file are not shown because most of them hold secrets.
        screen.print_problems(
            problem_lines(problems, paint=screen.notes_paint, width=screen.notes_width)
        )
        screen.print_problems(["", problem_summary(problems)])
    if report.valid:
        count = len(report.documents)
        documents = f"{count} document{'' if count == 1 else 's'}"
        screen.data(f"{name}: valid for Talos {line} in {mode} mode ({documents})")
    return Exit.DONE if report.valid else Exit.FAILED
