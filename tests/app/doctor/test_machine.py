"""Checks of the machine."""

from datetime import UTC, datetime

import pytest

from stockman.app.doctor.finding import Status
from stockman.app.doctor.machine import date, disk, encoding, python
from stockman.ports.probe import Room
from tests.app.doctor.fakes import FakeClock, FakeMachine, found, scene

GIB = 1024**3
MIB = 1024**2


def test_the_version_of_python_is_shown() -> None:
    (finding,) = found(python, scene())

    assert (finding.status, finding.seen) == (Status.OK, "3.11.7")


@pytest.mark.parametrize(
    ("told", "status"),
    [("utf-8", Status.OK), ("utf_8", Status.OK), ("ascii", Status.WARN)],
)
def test_only_utf_8_takes_every_character(told: str, status: Status) -> None:
    (finding,) = found(encoding, scene(machine=FakeMachine(encoding=told)))

    assert finding.status is status


@pytest.mark.parametrize(
    ("room", "status", "seen"),
    [
        (Room(free=5 * GIB, writable=True), Status.OK, "5.0 GiB free"),
        (Room(free=2 * GIB - 1, writable=True), Status.WARN, "2.0 GiB free"),
        (Room(free=200 * MIB, writable=True), Status.WARN, "200 MiB free"),
        (Room(free=200 * MIB - 1, writable=True), Status.FAIL, "199 MiB free"),
        (Room(free=5 * GIB, writable=False), Status.FAIL, "it may not be written"),
        (None, Status.UNKNOWN, "the system does not tell its room"),
    ],
)
def test_room_is_judged_here_and_for_temporary_files(
    room: Room | None, status: Status, seen: str
) -> None:
    findings = found(disk, scene(machine=FakeMachine(room=room)))

    assert [one.subject for one in findings] == ["this directory", "temporary files (/tmp)"]
    assert {(one.status, one.seen) for one in findings} == {(status, seen)}


def test_a_date_before_this_stockman_existed_is_doubted() -> None:
    (finding,) = found(date, scene(clock=FakeClock(datetime(1970, 1, 1, tzinfo=UTC))))

    assert finding.status is Status.WARN
    assert finding.seen.startswith("it is 1970-01-01 here")


def test_a_later_date_is_taken() -> None:
    (finding,) = found(date, scene())

    assert (finding.status, finding.seen) == (Status.OK, "2030-01-01")
