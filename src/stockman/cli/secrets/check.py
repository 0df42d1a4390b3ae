"""`stockman secrets check`: check for unencrypted secrets."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.output import Exit, Output, show
from stockman.cli.problems import problem_data, show_problems
from stockman.cli.terminal.screen import Screen, current_screen
from stockman.cli.terminal.styles import count_noun

if TYPE_CHECKING:
    from stockman.app.secrets_check.report import Coverage, SecretsReport

_CHECKED_ANYWAY = ("key.mode", "key.owner")
_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")
_STEP = 1024


@command(
    name="check",
    examples={
        "stockman secrets check": "check encrypted files, key files, tracked files and history",
        "stockman secrets check --no-history": "check files only, before a commit",
        "stockman secrets check --fix": "fix file modes and .gitignore",
        "stockman secrets check --strict -o json": "require history and encrypted values",
    },
)
@click.option(
    "--fix", is_flag=True, help="Set file modes to 0600, and add key files to .gitignore."
)
@click.option("--strict", is_flag=True, help="Exit with 4 also without history or an age identity.")
@click.option("--no-history", is_flag=True, help="Check files only, not commits.")
@click.option(
    "--max-commits",
    type=click.IntRange(min=1),
    default=10_000,
    show_default=True,
    help="Number of newest commits to scan.",
)
@click.option(
    "--max-object-bytes",
    type=click.IntRange(min=1),
    default=16 << 20,
    show_default=True,
    help="Maximum size of a scanned file.",
)
@click.option(
    "--max-bytes",
    type=click.IntRange(min=1),
    default=2 << 30,
    show_default=True,
    help="Maximum total size to scan.",
)
@options.output
@click.pass_context
def secrets_check(ctx: click.Context, /, output: Output, **values: Any) -> int:
    """Check that secrets are encrypted and do not appear in plain text.

    Every `*.sops.*` file must be encrypted for the recipients in `.sops.yaml`. No value of the
    secrets bundle, of encrypted files, of key files or of the configuration may appear in a file
    that git tracks or does not ignore, or in its history; values in base64, escaped values and
    values with other line breaks are found too. Key files must be ignored by git and not readable
    by others. What was not scanned is listed. Values are never shown. The exit status is 1 if
    anything is found, otherwise 4 if a file or a part of the history could not be scanned.
    """
    from stockman.adapters.git.probe import LocalGitHistory
    from stockman.app.secrets.keyring import find_keyring
    from stockman.app.secrets_check.check import SecretsCheckOptions, check_secrets
    from stockman.app.secrets_check.report import Limits

    screen = current_screen()
    directory = options.directory(ctx)
    request = SecretsCheckOptions(
        directory=directory,
        limits=Limits(
            commits=values["max_commits"],
            object_bytes=values["max_object_bytes"],
            total_bytes=values["max_bytes"],
        ),
        fix=values["fix"],
        history=not values["no_history"],
    )
    history = LocalGitHistory(directory)
    try:
        keyring = find_keyring(directory, os.environ)
        show_problems(
            problem for problem in keyring.problems if problem.code not in _CHECKED_ANYWAY
        )
        report = check_secrets(request, keyring, os.environ, history, _progress(screen))
    finally:
        history.close()
    if output is Output.TABLE and report.findings:
        show_problems(finding.problem for finding in report.findings)
        screen.print_problems([""])
    show(_data(report), kind="SecretsCheck", output=output, human=lambda _, on: _lines(report, on))
    if report.findings:
        return Exit.FAILED
    is_partial = not report.complete if values["strict"] else report.has_failures
    return Exit.PARTLY if is_partial else Exit.DONE


def _progress(screen: Screen) -> Callable[[Coverage], None]:
    def tell(seen: Coverage) -> None:
        screen.note(f"Scanned {seen.objects:,} objects of the history, {_size(seen.total_bytes)}")

    return tell


def _data(report: SecretsReport) -> dict[str, Any]:
    return {
        "clean": not report.findings,
        "complete": report.complete,
        "findings": [
            problem_data(finding.problem)
            | {"file": finding.file or None, "line": finding.line, "secret": finding.secret or None}
            | {"commit": finding.commit, "versions": finding.versions, "id": finding.id}
            for finding in report.findings
        ],
        "fixed": report.fixed,
        "encrypted": report.encrypted,
        "accepted": report.accepted,
        "compared": report.compared,
        "too_plain": report.too_plain,
        "scanned": report.scanned,
        "not_scanned": report.not_scanned,
    }


def _lines(report: SecretsReport, screen: Screen) -> Iterator[str]:
    paint = screen.paint
    yield from (f"fixed: {text}" for text in report.fixed)
    seen = report.scanned
    yield f"encrypted files: {len(report.encrypted)}"
    yield f"values compared: {report.compared}"
    counts = [count_noun(seen.files, "file"), count_noun(seen.commits, "commit")]
    counts += [count_noun(seen.objects, "object") + " of the history", _size(seen.total_bytes)]
    yield f"scanned: {', '.join(counts)}"
    for reason in report.not_scanned:
        yield f"{paint('not scanned', 'warning')}: {reason.subject}: {reason.why}"
    if report.too_plain:
        yield f"too short or too common to search for: {', '.join(report.too_plain)}"
    if report.accepted:
        yield f"accepted: {count_noun(report.accepted, 'finding')} in the history"
    if report.findings:
        yield paint(count_noun(len(report.findings), "finding"), "error")
    elif report.complete:
        yield paint("no findings", "good")
    else:
        yield paint("no findings in what was scanned", "warning")


def _size(count: int) -> str:
    size, unit = float(count), 0
    while size >= _STEP and unit < len(_UNITS) - 1:
        size /= _STEP
        unit += 1
    return f"{size:.0f} {_UNITS[unit]}" if unit == 0 else f"{size:.1f} {_UNITS[unit]}"
