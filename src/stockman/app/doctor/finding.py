"""What checks find, line by line."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from stockman.model.record import record


class Status(Enum):
    """How a thing stands; only `OK` says that it is well."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"
    UNKNOWN = "unknown"
    """Looked at, and nothing can be said."""
    SKIP = "skip"
    """Not looked at, on purpose or because it does not apply."""


@record
class Finding:
    """One thing that was looked at."""

    check: str = ""
    """Name of the check, `git.remote`; whoever runs it fills it in."""
    subject: str
    """The thing, in the user's words."""
    status: Status
    seen: str
    """What is so, as a clause."""
    fix: str = ""
    """An imperative that would work. Empty: there is nothing to do."""


@record
class Report:
    """All findings, in the order of the checks."""

    findings: tuple[Finding, ...]

    @property
    def counts(self) -> Mapping[Status, int]:
        """How many findings there are of each status, worst first; without those of none."""
        order = (Status.FAIL, Status.WARN, Status.UNKNOWN, Status.SKIP, Status.OK)
        counts = {status: sum(one.status is status for one in self.findings) for status in order}
        return {status: count for status, count in counts.items() if count}

    @property
    def is_partial(self) -> bool:
        """Whether a check had no result."""
        return Status.UNKNOWN in self.counts

    def failed(self, *, strict: bool = False) -> bool:
        """Whether anything is wrong; the strict count warnings too."""
        return Status.FAIL in self.counts or (strict and Status.WARN in self.counts)


def ok(subject: str, seen: str) -> Finding:
    return Finding(subject=subject, status=Status.OK, seen=seen)


def warn(subject: str, seen: str, fix: str) -> Finding:
    return Finding(subject=subject, status=Status.WARN, seen=seen, fix=fix)


def fail(subject: str, seen: str, fix: str) -> Finding:
    return Finding(subject=subject, status=Status.FAIL, seen=seen, fix=fix)


def unknown(subject: str, seen: str, fix: str) -> Finding:
    return Finding(subject=subject, status=Status.UNKNOWN, seen=seen, fix=fix)


def skip(subject: str, seen: str) -> Finding:
    return Finding(subject=subject, status=Status.SKIP, seen=seen)
