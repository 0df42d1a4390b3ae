"""Runs a check on a repository, and says what came of it in a few words."""

from pathlib import Path

from stockman.adapters.git_history import GitHistory
from stockman.app.keyring import Keyring
from stockman.app.secrets_check.check import Wish, check
from stockman.app.secrets_check.report import Limits, Report
from tests.app.secret_workspace import keyring


def checked(
    directory: Path,
    keys: Keyring | None = None,
    *,
    limits: Limits | None = None,
    fix: bool = False,
    **environment: str,
) -> Report:
    history = GitHistory(directory)
    try:
        wish = Wish(directory=directory, limits=limits or Limits(), fix=fix)
        return check(wish, keys or keyring(), environment, history)
    finally:
        history.close()


def codes(report: Report) -> list[str]:
    return [finding.problem.code for finding in report.findings]


def places(report: Report) -> list[tuple[str, int | None, str]]:
    return [(finding.file, finding.line, finding.secret) for finding in report.findings]


def unread(report: Report) -> list[str]:
    return [f"{one.what}: {one.why}" for one in report.not_scanned]
