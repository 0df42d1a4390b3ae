"""`stockman doctor`: looks at everything that stockman depends on, and changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.exit import Exit
from stockman.cli.output import Output, show
from stockman.cli.terminal.screen import Screen, current_screen
from stockman.cli.terminal.tables import Cell, Row, table

if TYPE_CHECKING:
    from stockman.app.doctor.finding import CheckResult, DoctorReport

_STYLES = {"ok": "good", "warn": "warning", "fail": "error", "unknown": "warning", "skip": "faint"}


@command(
    examples={
        "stockman doctor": "look at files, secrets, git, disk, servers and the clock",
        "stockman doctor --offline": "look at this machine only, and ask nobody",
        "stockman doctor --strict -o json": "let a pipeline stop at warnings too",
    }
)
@click.option("--offline", is_flag=True, help="Ask nobody: skip what needs the network.")
@click.option("--strict", is_flag=True, help="Let warnings count as failures.")
@options.output
@click.pass_context
def doctor(ctx: click.Context, offline: bool, strict: bool, output: Output) -> int:
    """Look at everything that stockman depends on, and say what to do about it.

    Nothing is changed. Tokens of Proxmox VE go to the endpoints that the files name for them, once
    the certificate is trusted; no other credential is sent. Each line is OK, WARN or FAIL; UNKNOWN
    could not be told, and SKIP was not looked at. Servers get a few seconds to answer, all at once,
    so the answer comes quickly even where nothing can be reached. Exits with 1 when a line is FAIL,
    and otherwise with 4 when a line is UNKNOWN.
    """
    from stockman.app.doctor.examination import diagnose

    screen = current_screen()
    report = diagnose(options.directory(ctx), offline=offline, listen=_progress(screen))
    failed = report.failed(strict=strict)
    data = {"failed": failed, "counts": _counts(report), "findings": report.findings}
    show(data, kind="Diagnosis", output=output, human=lambda _, screen: _lines(report, screen))
    screen.note(", ".join(f"{count} {name.upper()}" for name, count in _counts(report).items()))
    if failed:
        return Exit.FAILED
    return Exit.PARTLY if report.is_partial else Exit.DONE


def _progress(screen: Screen) -> Callable[[int], None]:
    def tell(questions: int) -> None:
        if screen.notes_width is not None:
            screen.note(f"asking {questions} questions over the network, all at once")

    return tell


def _counts(report: DoctorReport) -> dict[str, int]:
    return {status.value: count for status, count in report.counts.items()}


def _lines(report: DoctorReport, screen: Screen) -> Iterator[str]:
    rows = (row for finding in report.findings for row in _rows(finding))
    return table(("STATUS", "CHECK", "FOUND"), rows, width=screen.width, paint=screen.paint)


def _rows(finding: CheckResult) -> Iterator[Row]:
    status = finding.status.value
    found = f"{finding.subject}: {finding.seen}"
    yield Cell(status.upper(), _STYLES[status]), Cell(finding.check, "name"), found
    if finding.fix:
        yield "", "", f"fix: {finding.fix}"
