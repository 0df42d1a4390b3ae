"""Whether machines may be taken down now."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest

from stockman.steps.base import GateAnswer, Verdict
from stockman.steps.ports import Ports
from stockman.steps.window import MaintenanceWindow, WindowOpen
from tests.engine.simulated import Dice, JumpClock

NIGHT = MaintenanceWindow(start="0 3 * * 6", duration="4h", timezone="Europe/Berlin")
NOON = MaintenanceWindow(start="0 12 * * *", duration="30m")


def asked(now: datetime, *windows: MaintenanceWindow) -> Verdict:
    clock = JumpClock()
    clock.moment = now
    ports = Ports(clock=clock, entropy=Dice())
    return asyncio.run(WindowOpen(windows=windows).check(ports))


def test_an_open_window_says_until_when() -> None:
    verdict = asked(datetime(2026, 11, 21, 5, 59, tzinfo=UTC), NIGHT)

    assert verdict.answer is GateAnswer.GO
    assert verdict.because == "one is open until Sat 2026-11-21 07:00 Europe/Berlin"


@pytest.mark.parametrize("hour", [1, 6])
def test_a_closed_window_says_when_the_next_opens(hour: int) -> None:
    verdict = asked(datetime(2026, 11, 21, hour, tzinfo=UTC), NIGHT)

    assert verdict.answer is GateAnswer.STOP
    days = {1: "Sat 2026-11-21", 6: "Sat 2026-11-28"}
    assert verdict.because.endswith(f"the next opens {days[hour]} 03:00 Europe/Berlin")
    assert "stockman runs resume" in verdict.fix


def test_one_open_window_of_several_is_enough() -> None:
    verdict = asked(datetime(2026, 11, 16, 12, 10, tzinfo=UTC), NIGHT, NOON)

    assert verdict.because == "one is open until Mon 2026-11-16 12:30 UTC"


def test_the_window_that_opens_first_is_told() -> None:
    verdict = asked(datetime(2026, 11, 16, 13, 0, tzinfo=UTC), NIGHT, NOON)

    assert verdict.because.endswith("the next opens Tue 2026-11-17 12:00 UTC")


def test_a_time_zone_that_this_machine_does_not_know_keeps_it_closed() -> None:
    nowhere = MaintenanceWindow(start="* * * * *", duration="1h", timezone="Mars/Olympus")

    verdict = asked(datetime(2026, 11, 16, 13, 0, tzinfo=UTC), NOON, nowhere)

    assert verdict.answer is GateAnswer.STOP
    assert verdict.because == "the time zone Mars/Olympus is not known here"
