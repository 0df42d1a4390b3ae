"""`stockman secrets check`: whether secrets are where they belong, and nowhere else."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.exit import Exit
from stockman.cli.output import Output, show
from stockman.cli.problems import problem_data, problem_lines
from stockman.cli.secrets.store import show_problems
from stockman.cli.terminal.screen import Screen, current_screen

if TYPE_CHECKING:
    from stockman.app.secrets_check.report import Coverage, SecretsReport

_CHECKED_ANYWAY = ("key.mode", "key.owner")
_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")
_STEP = 1024


@command(
    name="check",
    examples={
        "stockman secrets check": "look at encrypted files, key files, tracked files and history",
        "stockman secrets check --no-history": "look at files only, before a commit",
        "stockman secrets check --fix": "set modes of key files, and let git ignore them",
        "stockman secrets check --strict -o json": "require history and encrypted values",
    },
)
@click.option("--fix", is_flag=True, help="Set modes to 0600, and add key files to .gitignore.")
@click.option("--strict", is_flag=True, help="Exit with 4 also without history or an age identity.")
@click.option("--no-history", is_flag=True, help="Look at files only, not at commits.")
@click.option(
    "--max-commits",
    type=click.IntRange(min=1),
    default=10_000,
    show_default=True,
    help="How many of the newest commits to scan.",
)
@click.option(
    "--max-object-bytes",
    type=click.IntRange(min=1),
    default=16 << 20,
    show_default=True,
    help="The largest file to read.",
)
@click.option(
    "--max-bytes",
    type=click.IntRange(min=1),
    default=2 << 30,
    show_default=True,
    help="How much to read altogether.",
)
@options.output
@click.pass_context
def secrets_check(ctx: click.Context, /, output: Output, **wished: Any) -> int:
    """Check that secrets are encrypted, and stand nowhere in the clear.

    Every `*.sops.*` file has to be encrypted, for the recipients that `.sops.yaml` names. No value
    of the secrets bundle, of encrypted files, of key files or of the configuration may stand in a
    file that git keeps or would take, nor in its history; a value counts in base64, escaped and
    with other line breaks too. Key files have to be ignored by git and closed to others. What was
    not scanned is listed. No value is ever shown. Exits with 1 when anything is found, and with 4
    when nothing is found but a file or a part of the history could not be scanned.
    """
    from stockman.adapters.git.history import LocalGitHistory
    from stockman.app.secrets.keyring import find_keyring
    from stockman.app.secrets_check.check import SecretsCheckOptions, check_secrets
    from stockman.app.secrets_check.report import Limits

    screen = current_screen()
    directory = options.directory(ctx)
    wish = SecretsCheckOptions(
        directory=directory,
        limits=Limits(
            commits=wished["max_commits"],
            object_bytes=wished["max_object_bytes"],
            total_bytes=wished["max_bytes"],
        ),
        fix=wished["fix"],
        history=not wished["no_history"],
    )
    history = LocalGitHistory(directory)
    try:
        keyring = find_keyring(directory, os.environ)
        show_problems(
            problem for problem in keyring.problems if problem.code not in _CHECKED_ANYWAY
        )
        report = check_secrets(wish, keyring, os.environ, history, _progress(screen))
    finally:
        history.close()
    if output is Output.TABLE and report.findings:
        problems = [finding.problem for finding in report.findings]
        lines = problem_lines(problems, paint=screen.notes_paint, width=screen.notes_width)
        screen.complain([*lines, ""])
    show(_data(report), kind="SecretsCheck", output=output, human=lambda _, on: _lines(report, on))
    if report.findings:
        return Exit.FAILED
    is_partial = not report.complete if wished["strict"] else report.has_failures
    return Exit.PARTLY if is_partial else Exit.DONE


def _progress(screen: Screen) -> Callable[[Coverage], None]:
    def tell(seen: Coverage) -> None:
        screen.note(f"scanned {seen.objects:,} objects of history, {_size(seen.total_bytes)}")

    return tell


def _data(report: SecretsReport) -> dict[str, Any]:
    return {
        "clean": not report.findings,
        "complete": report.complete,
        "findings": [
            problem_data(one.problem)
            | {"file": one.file or None, "line": one.line, "secret": one.secret or None}
            | {"commit": one.commit, "versions": one.versions, "id": one.id}
            for one in report.findings
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
    yield from (f"fixed: {what}" for what in report.fixed)
    seen = report.scanned
    yield f"encrypted files: {len(report.encrypted)}"
    yield f"values compared: {report.compared}"
    parts = [_count(seen.files, "file"), _count(seen.commits, "commit")]
    parts += [_count(seen.objects, "object") + " of history", _size(seen.total_bytes)]
    yield f"scanned: {', '.join(parts)}"
    for one in report.not_scanned:
        yield f"{paint('not scanned', 'warning')}: {one.what}: {one.why}"
    if report.too_plain:
        yield f"too short or too plain to look for: {', '.join(report.too_plain)}"
    if report.accepted:
        yield f"accepted: {_count(report.accepted, 'finding')} in history"
    if report.findings:
        yield paint(_count(len(report.findings), "finding"), "error")
    elif report.complete:
        yield paint("no finding", "good")
    else:
        yield paint("no finding in what was scanned", "warning")


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _size(count: int) -> str:
    size, unit = float(count), 0
    while size >= _STEP and unit < len(_UNITS) - 1:
        size /= _STEP
        unit += 1
    return f"{size:.0f} {_UNITS[unit]}" if unit == 0 else f"{size:.1f} {_UNITS[unit]}"
