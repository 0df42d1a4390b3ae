"""Checks of the machine."""

from datetime import UTC, datetime

import pytest

from stockman.assessment.doctor.check import CheckStatus
from stockman.assessment.doctor.machine import date, disk, encoding, python
from stockman.ports.environment import DirectorySpace
from tests.app.doctor.fakes import FakeClock, FakeMachine, found, scene

GIB = 1024**3
MIB = 1024**2


def test_the_version_of_python_is_shown() -> None:
    (finding,) = found(python, scene())

    assert (finding.status, finding.summary) == (CheckStatus.OK, "3.11.7")


@pytest.mark.parametrize(
    ("text", "status"),
    [("utf-8", CheckStatus.OK), ("utf_8", CheckStatus.OK), ("ascii", CheckStatus.WARN)],
)
def test_only_utf_8_takes_every_character(text: str, status: CheckStatus) -> None:
    (finding,) = found(encoding, scene(machine=FakeMachine(encoding=text)))

    assert finding.status is status


@pytest.mark.parametrize(
    ("room", "status", "seen"),
    [
        (DirectorySpace(free=5 * GIB, writable=True), CheckStatus.OK, "5.0 GiB free"),
        (DirectorySpace(free=2 * GIB - 1, writable=True), CheckStatus.WARN, "2.0 GiB free"),
        (DirectorySpace(free=200 * MIB, writable=True), CheckStatus.WARN, "200 MiB free"),
        (DirectorySpace(free=200 * MIB - 1, writable=True), CheckStatus.FAIL, "199 MiB free"),
        (DirectorySpace(free=5 * GIB, writable=False), CheckStatus.FAIL, "it is not writable"),
        (None, CheckStatus.UNKNOWN, "its free space cannot be determined"),
    ],
)
def test_room_is_judged_here_and_for_temporary_files(
    room: DirectorySpace | None, status: CheckStatus, seen: str
) -> None:
    findings = found(disk, scene(machine=FakeMachine(room=room)))

    assert [finding.subject for finding in findings] == ["this directory", "temporary files (/tmp)"]
    assert {(finding.status, finding.summary) for finding in findings} == {(status, seen)}


def test_a_date_before_this_stockman_existed_is_doubted() -> None:
    (finding,) = found(date, scene(clock=FakeClock(datetime(1970, 1, 1, tzinfo=UTC))))

    assert finding.status is CheckStatus.WARN
    assert finding.summary.startswith("it is 1970-01-01 here")


def test_a_later_date_is_taken() -> None:
    (finding,) = found(date, scene())

    assert (finding.status, finding.summary) == (CheckStatus.OK, "2030-01-01")
