"""`stockman secrets status`: every secret file at a glance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.exit import Exit
from stockman.cli.output import Output, show
from stockman.cli.problems import problem_data
from stockman.cli.secrets.store import open_store, short_recipient, show_problems
from stockman.cli.terminal.screen import Screen, current_screen
from stockman.cli.terminal.tables import Cell, table

if TYPE_CHECKING:
    from stockman.app.secrets.status import SecretFile, SecretsStatus

_STYLES = {
    "unchanged": "good",
    "changed": "warning",
    "unknown": "faint",
    "clear": "error",
    "missing": "warning",
    "damaged": "error",
}


@command(
    name="status",
    examples={
        "stockman secrets status": "all secret files",
        "stockman secrets status -o json": "the same for programs, with whole recipients",
        "stockman secrets status --fix": "and make key files readable for you alone",
        "stockman secrets status --accept": "and take the files as they are now as unchanged",
    },
)
@click.option("--fix", is_flag=True, help="Set the mode of key files that are yours to 0600.")
@click.option("--accept", is_flag=True, help="Write the files as they are into the lock file.")
@options.output_or_name
@click.pass_context
def secrets_status(ctx: click.Context, fix: bool, accept: bool, output: Output) -> int:
    """Show every secret file: for whom it is encrypted, and whether it changed.

    Files are compared with .stockman/secrets.lock, which holds hashes and is committed with them:
    of the bytes on disk, and of the values, keyed from your age identity. A file with the bytes of
    the lock file is unchanged. One with other bytes is opened to compare its values; without a
    fitting identity only bytes are compared, and the output says so. Exits with 1 when a file is
    damaged or in the clear, and with 4 when a changed file could not be opened with your identity.
    """
    from stockman.app.secrets.status import accept_all as accepted
    from stockman.app.secrets.status import read_status

    store = open_store(ctx, fix=fix)
    if accept:
        count = accepted(store)
        current_screen().note(
            f"{count} entr{'y' if count == 1 else 'ies'} of the lock file changed"
        )
    found = read_status(store)
    data = {
        "files": found.files,
        "identity": found.has_identity,
        "problems": [problem_data(problem) for problem in found.problems],
    }
    show(
        data,
        kind="SecretsStatus",
        output=output,
        human=lambda _, screen: _lines(found, screen),
        names=lambda _: (file.name for file in found.files),
    )
    show_problems(found.problems)
    _report_problems(found)
    if found.problems.errors:
        return Exit.FAILED
    return Exit.PARTLY if found.has_identity and found.only_bytes else Exit.DONE


def _report_problems(found: SecretsStatus) -> None:
    screen = current_screen()
    if not found.files:
        screen.note("there are no secret files")
    if not found.has_identity and found.files:
        screen.note("no identity is at hand: bytes were compared, not values")
    elif found.only_bytes:
        screen.note(f"only bytes could be compared of: {', '.join(found.only_bytes)}")
    others = [file.name for file in found.files if file.as_ruled is False]
    if others:
        screen.note(
            f"recipients differ from .sops.yaml: {', '.join(others)}; see `stockman secrets rekey`"
        )


def _lines(found: SecretsStatus, screen: Screen) -> Iterator[str]:
    rows = [
        (
            Cell(file.name, "name"),
            Cell(_state(file), _STYLES[file.state]),
            "yes" if file.opens_here else "no",
            file.modified,
            ", ".join(short_recipient(one) for one in file.recipients),
        )
        for file in found.files
    ]
    headers = ("FILE", "STATE", "OPENS HERE", "ENCRYPTED", "FOR")
    return table(headers, rows, width=screen.width, paint=screen.paint) if rows else iter(())


def _state(file: SecretFile) -> str:
    return f"{file.state} (bytes)" if _by_bytes(file) else file.state


def _by_bytes(file: SecretFile) -> bool:
    return file.state == "changed" and file.compared == "bytes"
