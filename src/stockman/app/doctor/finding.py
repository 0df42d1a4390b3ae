"""Results of checks."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from stockman.model.record import record


class CheckStatus(Enum):
    """Status of a result; only `OK` is good."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"
    UNKNOWN = "unknown"
    """Checked, but the result could not be determined."""
    SKIP = "skip"
    """Not checked, on purpose or because it does not apply."""


@record
class CheckResult:
    """Result of one check for one subject."""

    check: str = ""
    """Name of the check, such as `git.remote`; set by the runner."""
    subject: str
    """The subject in the user's words."""
    status: CheckStatus
    summary: str
    """The observed state, as a clause."""
    fix: str = ""
    """An instruction that fixes it. Empty: nothing to fix."""


@record
class DoctorReport:
    """All results in the order of the checks."""

    findings: tuple[CheckResult, ...]

    @property
    def counts(self) -> Mapping[CheckStatus, int]:
        """Return the number of results by status, worst first, without zeros."""
        order = (
            CheckStatus.FAIL,
            CheckStatus.WARN,
            CheckStatus.UNKNOWN,
            CheckStatus.SKIP,
            CheckStatus.OK,
        )
        counts = {
            status: sum(finding.status is status for finding in self.findings) for status in order
        }
        return {status: count for status, count in counts.items() if count}

    @property
    def is_partial(self) -> bool:
        """Whether a check had no result."""
        return CheckStatus.UNKNOWN in self.counts

    def has_failed(self, *, strict: bool = False) -> bool:
        """Whether a check failed; with `strict`, warnings count too."""
        return CheckStatus.FAIL in self.counts or (strict and CheckStatus.WARN in self.counts)


def ok(subject: str, summary: str) -> CheckResult:
    return CheckResult(subject=subject, status=CheckStatus.OK, summary=summary)


def warn(subject: str, summary: str, fix: str) -> CheckResult:
    return CheckResult(subject=subject, status=CheckStatus.WARN, summary=summary, fix=fix)


def fail(subject: str, summary: str, fix: str) -> CheckResult:
    return CheckResult(subject=subject, status=CheckStatus.FAIL, summary=summary, fix=fix)


def unknown(subject: str, summary: str, fix: str) -> CheckResult:
    return CheckResult(subject=subject, status=CheckStatus.UNKNOWN, summary=summary, fix=fix)


def skip(subject: str, summary: str) -> CheckResult:
    return CheckResult(subject=subject, status=CheckStatus.SKIP, summary=summary)
