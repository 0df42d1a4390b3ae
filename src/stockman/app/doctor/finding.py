"""What checks find, line by line."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from stockman.model.record import record


class CheckStatus(Enum):
    """How a thing stands; only `OK` says that it is well."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"
    UNKNOWN = "unknown"
    """Looked at, and nothing can be said."""
    SKIP = "skip"
    """Not looked at, on purpose or because it does not apply."""


@record
class CheckResult:
    """One thing that was looked at."""

    check: str = ""
    """Name of the check, `git.remote`; whoever runs it fills it in."""
    subject: str
    """The thing, in the user's words."""
    status: CheckStatus
    summary: str
    """What is so, as a clause."""
    fix: str = ""
    """An imperative that would work. Empty: there is nothing to do."""


@record
class DoctorReport:
    """All findings, in the order of the checks."""

    findings: tuple[CheckResult, ...]

    @property
    def counts(self) -> Mapping[CheckStatus, int]:
        """How many findings there are of each status, worst first; without those of none."""
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
        """Whether anything is wrong; the strict count warnings too."""
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
