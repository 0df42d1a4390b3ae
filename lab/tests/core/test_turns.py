"""Faults that come and go by turns."""

from __future__ import annotations

import pytest
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.core.turns import is_at_work, next_turn

BEGIN = 1_790_000_005.0


@pytest.mark.parametrize(
    ("seconds", "is_trouble", "until_next"),
    [(0, True, 20), (19, True, 1), (20, False, 20), (45, True, 15)],
)
def test_turns_begin_with_trouble(seconds: float, is_trouble: bool, until_next: float) -> None:
    fault = Fault(Point.NODE, Effect.FAIL, seconds=20, since=BEGIN, times=None)
    now = BEGIN + seconds
    assert is_at_work(fault, now) is is_trouble
    assert next_turn(fault, now) == now + until_next


def test_a_fault_without_seconds_is_always_at_work() -> None:
    fault = Fault(Point.NODE, Effect.FAIL, since=BEGIN, times=None)
    assert is_at_work(fault, BEGIN + 1000)
    assert next_turn(fault, BEGIN) is None
