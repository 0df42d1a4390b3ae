"""`stockman config check`: whether Talos would take a machine configuration."""

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
        "stockman config check worker.yaml": "check a file as the newest Talos would",
        "stockman config check worker.yaml --talos-version 1.13 --mode cloud": "as another would",
        "stockman config check - < worker.yaml": "check what another program prints",
        "stockman config check worker.yaml --strict -o json": "get every problem, for CI",
    },
)
@click.argument("file", type=click.File("rb"))
@click.option(
    "--mode",
    type=options.Choice(_MODES),
    default=_MODES[0],
    show_default=True,
    help="Whether the machine installs Talos itself, or its disk is ready.",
)
@click.option(
    "--talos-version",
    "line",
    type=options.Choice(_LINES),
    default=_LINES[-1],
    show_default=True,
    help="The line of Talos whose rules hold.",
)
@click.option("--strict", is_flag=True, help="Make errors of the warnings that Talos counts.")
@options.output
def config_check(file: BinaryIO, mode: str, line: str, strict: bool, output: Output) -> int:
    """Check a machine configuration as Talos would, and show all mistakes at once.

    FILE is the configuration of one machine, of several documents, made by whatever program; a
    single - reads it from stdin. The verdict is that of `talosctl validate`, which is not asked.
    What only the machine itself knows, such as its disks, is not judged. Exits with 0 when Talos
    would take it, with 1 otherwise.
    """
    from stockman.app.machine_config.check import MAX_BYTES, check_machine
    from stockman.talos.validation.report import RuntimeMode

    name = "stdin" if file.name in ("<stdin>", 0) else str(file.name)
    content = file.read(MAX_BYTES + 1)
    found = check_machine(name, content, talos=line, mode=RuntimeMode(mode), strict=strict)
    problems = list(found.problems)
    if output is not Output.TABLE:
        data = {
            "valid": found.valid,
            "file": found.file,
            "talos": found.talos,
            "mode": found.mode.value,
            "documents": list(found.documents),
            "problems": [problem_data(problem) for problem in problems],
        }
        show(data, kind="MachineCheck", output=output, human=lambda *_: ())
        return Exit.DONE if found.valid else Exit.FAILED
    screen = current_screen()
    if problems:
        # No line of the file is shown: most of them hold secrets.
        screen.complain(problem_lines(problems, paint=screen.notes_paint, width=screen.notes_width))
        screen.complain(["", problem_summary(problems)])
    if found.valid:
        count = len(found.documents)
        documents = f"{count} document{'' if count == 1 else 's'}"
        screen.data(f"{name}: valid for Talos {line} in {mode} mode ({documents})")
    return Exit.DONE if found.valid else Exit.FAILED
