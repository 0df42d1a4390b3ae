"""`stockman secrets certs`: every certificate, and how long it still holds."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.exit import Exit
from stockman.cli.output import Output, show
from stockman.cli.problems import problem_data, problem_lines, problem_summary
from stockman.cli.secrets.store import show_problems
from stockman.cli.terminal.screen import Screen, current_screen
from stockman.cli.terminal.tables import Cell, table

if TYPE_CHECKING:
    from stockman.assessment.status.observed import CertificateList, ListedCertificate

_STYLES = {"valid": "good", "due": "warning", "not yet valid": "warning", "expired": "error"}
_CLUSTER_LABELS = {True: "this cluster", False: "another", None: "not known"}


@command(
    name="certs",
    examples={
        "stockman secrets certs": "every certificate, and its last day",
        "stockman secrets certs --strict": "fail already when one is due to be renewed",
        "stockman secrets certs -o json": "the same for programs",
    },
)
@click.option("--strict", is_flag=True, help="Fail on warnings too.")
@options.output
@click.pass_context
def secrets_certs(ctx: click.Context, strict: bool, output: Output) -> int:
    """List every certificate, and how many days each still holds.

    Those of the secrets bundle, of talosconfig and of kubeconfig in this directory. A client
    certificate is due when less than 30 days are left, or less than a third of a shorter life.
    Exits with 1 when one has expired or cannot be read, with --strict also when one is due. Exits
    with 4 when a file could not be opened.
    """
    from stockman.adapters.system import SystemClock
    from stockman.app.client_config.certificate_list import list_certificates
    from stockman.app.secrets.keyring import find_keyring

    screen = current_screen()
    directory = options.directory(ctx)
    keyring = find_keyring(directory, os.environ)
    show_problems(keyring.problems)
    found = list_certificates(directory, keyring, os.environ, SystemClock().now())
    data = {
        "certificates": found.certificates,
        "problems": [problem_data(problem) for problem in found.problems],
        "not_read": [problem_data(problem) for problem in found.not_read],
    }
    show(data, kind="Certificates", output=output, human=lambda _, on: _lines(found, on))
    for problem in found.not_read:
        screen.note(f"not looked at: {problem.where}: {problem.what}")
    if found.problems and output is Output.TABLE:
        lines = problem_lines(found.problems, paint=screen.notes_paint, width=screen.notes_width)
        screen.complain([*lines, "", problem_summary(found.problems)])
    if any(problem.is_error or strict for problem in found.problems):
        return Exit.FAILED
    return Exit.PARTLY if found.not_read else Exit.DONE


def _lines(found: CertificateList, screen: Screen) -> Iterator[str]:
    if not found.certificates:
        yield "there is no certificate here"
        return
    headers = ("CERTIFICATE", "FILE", "SUBJECT", "SIGNED BY", "ENDS", "DAYS", "STATE")
    rows = (_row(one) for one in found.certificates)
    yield from table(headers, rows, width=screen.width, paint=screen.paint)


def _row(one: ListedCertificate) -> tuple[str | Cell, ...]:
    state = one.standing.value
    return (
        Cell(one.name, "name"),
        one.file,
        one.subject or "-",
        "itself" if one.kind == "authority" else _CLUSTER_LABELS[one.ours],
        f"{one.ends:%Y-%m-%d}",
        str(one.days_left),
        Cell(state, _STYLES[state]),
    )
