"""Runs a check on a repository, and says what came of it in a few words."""

from pathlib import Path

from stockman.adapters.git.probe import LocalGitHistory
from stockman.app.secrets.keyring import Keyring
from stockman.app.secrets_check.check import SecretsCheckOptions, check_secrets
from stockman.app.secrets_check.report import Limits, SecretsReport
from tests.app.secret_workspace import keyring


def checked(
    directory: Path,
    keys: Keyring | None = None,
    *,
    limits: Limits | None = None,
    fix: bool = False,
    **environment: str,
) -> SecretsReport:
    history = LocalGitHistory(directory)
    try:
        secrets_check_options = SecretsCheckOptions(
            directory=directory, limits=limits or Limits(), fix=fix
        )
        return check_secrets(secrets_check_options, keys or keyring(), environment, history)
    finally:
        history.close()


def codes(report: SecretsReport) -> list[str]:
    return [finding.problem.code for finding in report.findings]


def places(report: SecretsReport) -> list[tuple[str, int | None, str]]:
    return [(finding.file, finding.line, finding.secret) for finding in report.findings]


def unread(report: SecretsReport) -> list[str]:
    return [f"{result.subject}: {result.why}" for result in report.not_scanned]
