"""`stockman secrets status` and `certs`: list secret files and certificates."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.output import Exit, Output, show
from stockman.cli.problems import problem_data, show_problems
from stockman.cli.secrets.store import open_store, short_recipient
from stockman.cli.terminal.screen import Screen, current_screen
from stockman.cli.terminal.tables import Cell, table

if TYPE_CHECKING:
    from stockman.app.secrets.status import SecretFile, SecretsStatus
    from stockman.assessment.status.observed import CertificateList, ListedCertificate

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
        "stockman secrets status": "list all secret files",
        "stockman secrets status -o json": "print them as JSON, with full recipients",
        "stockman secrets status --fix": "also make key files readable by you only",
        "stockman secrets status --accept": "also record the current files as unchanged",
    },
)
@click.option("--fix", is_flag=True, help="Set the mode of your key files to 0600.")
@click.option("--accept", is_flag=True, help="Record the current files in the lock file.")
@options.output_or_name
@click.pass_context
def secrets_status(ctx: click.Context, fix: bool, accept: bool, output: Output) -> int:
    """List secret files, their recipients, and whether they changed.

    Files are compared with .stockman/secrets.lock, which is committed with them and contains
    hashes: of the file contents, and of the values, keyed with your age identity. A file with the
    recorded content is unchanged. Other files are decrypted to compare their values; without a
    matching identity only the contents are compared, and the output says so. The exit status is 1
    if a file is damaged or not encrypted, and 4 if a changed file cannot be decrypted with your
    identity.
    """
    from stockman.app.secrets.status import accept_all as accepted
    from stockman.app.secrets.status import read_status

    store = open_store(ctx, fix=fix)
    if accept:
        count = accepted(store)
        current_screen().note(
            f"Updated {count} entr{'y' if count == 1 else 'ies'} of the lock file"
        )
    report = read_status(store)
    data = {
        "files": report.files,
        "identity": report.has_identity,
        "problems": [problem_data(problem) for problem in report.problems],
    }
    show(
        data,
        kind="SecretsStatus",
        output=output,
        human=lambda _, screen: _lines(report, screen),
        names=lambda _: (file.name for file in report.files),
    )
    show_problems(report.problems)
    _report_problems(report)
    if report.problems.errors:
        return Exit.FAILED
    return Exit.PARTLY if report.has_identity and report.only_bytes else Exit.DONE


def _report_problems(report: SecretsStatus) -> None:
    screen = current_screen()
    if not report.files:
        screen.note("There are no secret files.")
    if not report.has_identity and report.files:
        screen.note("No identity available: file contents were compared, not values.")
    elif report.only_bytes:
        screen.note(f"Only file contents could be compared for: {', '.join(report.only_bytes)}")
    outdated = [file.name for file in report.files if file.matches_rules is False]
    if outdated:
        names = ", ".join(outdated)
        screen.note(f"Recipients differ from .sops.yaml: {names}; see `stockman secrets rekey`")


def _lines(report: SecretsStatus, screen: Screen) -> Iterator[str]:
    rows = [
        (
            Cell(file.name, "name"),
            Cell(_state(file), _STYLES[file.state]),
            "yes" if file.opens_here else "no",
            file.modified,
            ", ".join(short_recipient(recipient) for recipient in file.recipients),
        )
        for file in report.files
    ]
    headers = ("FILE", "STATE", "DECRYPTABLE", "ENCRYPTED", "FOR")
    return table(headers, rows, width=screen.width, paint=screen.paint) if rows else iter(())


def _state(file: SecretFile) -> str:
    return f"{file.state} (bytes)" if _by_bytes(file) else file.state


def _by_bytes(file: SecretFile) -> bool:
    return file.state == "changed" and file.compared == "bytes"


_CERTIFICATE_STYLES = {
    "valid": "good",
    "due": "warning",
    "not yet valid": "warning",
    "expired": "error",
}
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
    show(
        data,
        kind="Certificates",
        output=output,
        human=lambda _, on: _certificate_lines(certificates, on),
    )
    for problem in certificates.not_read:
        screen.note(f"Not checked: {problem.where}: {problem.what}")
    if output is Output.TABLE:
        show_problems(certificates.problems, summary=True)
    if any(problem.is_error or strict for problem in certificates.problems):
        return Exit.FAILED
    return Exit.PARTLY if certificates.not_read else Exit.DONE


def _certificate_lines(listing: CertificateList, screen: Screen) -> Iterator[str]:
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
        Cell(state, _CERTIFICATE_STYLES[state]),
    )
