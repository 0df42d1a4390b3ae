"""`stockman secrets certs`: list certificates and their expiration."""

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
_CLUSTER_LABELS = {True: "this cluster", False: "another", None: "unknown"}


@command(
    name="certs",
    examples={
        "stockman secrets certs": "list all certificates with their expiration dates",
        "stockman secrets certs --strict": "fail if a certificate is due for renewal",
        "stockman secrets certs -o json": "print them as JSON",
    },
)
@click.option("--strict", is_flag=True, help="Fail on warnings too.")
@options.output
@click.pass_context
def secrets_certs(ctx: click.Context, strict: bool, output: Output) -> int:
    """List certificates and the days until they expire.

    Certificates of the secrets bundle, the talosconfig and the kubeconfig in this directory are
    listed. A client certificate is due when less than 30 days are left, or less than a third of a
    shorter lifetime. The exit status is 1 if a certificate has expired or cannot be read, with
    --strict also if one is due, and 4 if a file cannot be decrypted.
    """
    from stockman.adapters.system import SystemClock
    from stockman.app.client_config.certificate_list import list_certificates
    from stockman.app.secrets.keyring import find_keyring

    screen = current_screen()
    directory = options.directory(ctx)
    keyring = find_keyring(directory, os.environ)
    show_problems(keyring.problems)
    certificates = list_certificates(directory, keyring, os.environ, SystemClock().now())
    data = {
        "certificates": certificates.certificates,
        "problems": [problem_data(problem) for problem in certificates.problems],
        "not_read": [problem_data(problem) for problem in certificates.not_read],
    }
    show(data, kind="Certificates", output=output, human=lambda _, on: _lines(certificates, on))
    for problem in certificates.not_read:
        screen.note(f"Not checked: {problem.where}: {problem.what}")
    if certificates.problems and output is Output.TABLE:
        lines = problem_lines(
            certificates.problems, paint=screen.notes_paint, width=screen.notes_width
        )
        screen.print_problems([*lines, "", problem_summary(certificates.problems)])
    if any(problem.is_error or strict for problem in certificates.problems):
        return Exit.FAILED
    return Exit.PARTLY if certificates.not_read else Exit.DONE


def _lines(listing: CertificateList, screen: Screen) -> Iterator[str]:
    if not listing.certificates:
        yield "There are no certificates."
        return
    headers = ("CERTIFICATE", "FILE", "SUBJECT", "ISSUER", "ENDS", "DAYS", "STATE")
    rows = (_row(certificate) for certificate in listing.certificates)
    yield from table(headers, rows, width=screen.width, paint=screen.paint)


def _row(certificate: ListedCertificate) -> tuple[str | Cell, ...]:
    state = certificate.standing.value
    return (
        Cell(certificate.name, "name"),
        certificate.file,
        certificate.subject or "-",
        "itself" if certificate.kind == "authority" else _CLUSTER_LABELS[certificate.ours],
        f"{certificate.ends:%Y-%m-%d}",
        str(certificate.days_left),
        Cell(state, _STYLES[state]),
    )
