"""What a report comes to."""

import pytest

from stockman.assessment.doctor.check import (
    CheckResult,
    CheckStatus,
    DoctorReport,
    fail,
    ok,
    skip,
    unknown,
    warn,
)

OK, WARN = ok("a", "it is"), warn("a", "it may", "do")
FAIL, UNKNOWN = fail("a", "it is not", "do"), unknown("a", "who knows", "look")
SKIP = skip("a", "not asked")


@pytest.mark.parametrize(
    ("findings", "failed", "strictly"),
    [
        ((), False, False),
        ((OK, SKIP, UNKNOWN), False, False),
        ((OK, WARN), False, True),
        ((OK, WARN, FAIL), True, True),
    ],
)
def test_a_failure_fails_and_a_warning_only_strictly(
    findings: tuple[CheckResult, ...], failed: bool, strictly: bool
) -> None:
    report = DoctorReport(findings=findings)

    assert report.has_failed() is failed
    assert report.has_failed(strict=True) is strictly


def test_findings_are_counted_worst_first() -> None:
    report = DoctorReport(findings=(OK, WARN, OK, FAIL))

    assert list(report.counts.items()) == [
        (CheckStatus.FAIL, 1),
        (CheckStatus.WARN, 1),
        (CheckStatus.OK, 2),
    ]
