"""`stockman doctor`: check the environment of stockman."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.output import Exit, Output, show
from stockman.cli.terminal.screen import Screen, current_screen
from stockman.cli.terminal.tables import Cell, Row, table

if TYPE_CHECKING:
    from stockman.assessment.doctor.check import CheckResult, DoctorReport

_STYLES = {"ok": "good", "warn": "warning", "fail": "error", "unknown": "warning", "skip": "faint"}


@command(
    examples={
        "stockman doctor": "check files, secrets, git, disk, servers and the clock",
        "stockman doctor --offline": "skip the checks that need the network",
        "stockman doctor --strict -o json": "fail on warnings too, for CI",
    }
)
@click.option("--offline", is_flag=True, help="Skip network checks.")
@click.option("--strict", is_flag=True, help="Treat warnings as failures.")
@options.output
@click.pass_context
def doctor(ctx: click.Context, offline: bool, strict: bool, output: Output) -> int:
    """Check files, credentials, servers and tools that stockman depends on.

    Nothing is changed. Proxmox VE tokens are sent to the configured endpoints after their
    certificates have been verified; no other credentials are sent. Each check is OK, WARN, FAIL,
    UNKNOWN (could not be determined) or SKIP (not run). Servers are checked in parallel with a
    timeout of a few seconds. The exit status is 1 if a check is FAIL, otherwise 4 if one is
    UNKNOWN.
    """
    from stockman.app.doctor import diagnose

    screen = current_screen()
    report = diagnose(options.directory(ctx), offline=offline, listen=_progress(screen))
    failed = report.has_failed(strict=strict)
    data = {"failed": failed, "counts": _counts(report), "findings": report.findings}
    show(data, kind="Diagnosis", output=output, human=lambda _, screen: _lines(report, screen))
    screen.note(", ".join(f"{count} {name.upper()}" for name, count in _counts(report).items()))
    if failed:
        return Exit.FAILED
    return Exit.PARTLY if report.is_partial else Exit.DONE


def _progress(screen: Screen) -> Callable[[int], None]:
    def tell(questions: int) -> None:
        if screen.notes_width is not None:
            screen.note(f"Running {questions} network checks")

    return tell


def _counts(report: DoctorReport) -> dict[str, int]:
    return {status.value: count for status, count in report.counts.items()}


def _lines(report: DoctorReport, screen: Screen) -> Iterator[str]:
    rows = (row for finding in report.findings for row in _rows(finding))
    return table(("STATUS", "CHECK", "RESULT"), rows, width=screen.width, paint=screen.paint)


def _rows(finding: CheckResult) -> Iterator[Row]:
    status = finding.status.value
    summary = f"{finding.subject}: {finding.summary}"
    yield Cell(status.upper(), _STYLES[status]), Cell(finding.check, "name"), summary
    if finding.fix:
        yield "", "", f"fix: {finding.fix}"
