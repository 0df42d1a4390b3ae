"""What a step saw, for its first order."""

from __future__ import annotations

import pytest

from stockman.engine.step_execution import RecentReads
from tests.engine.simulated import JumpClock


def test_what_was_seen_is_handed_out_once() -> None:
    looks = RecentReads(JumpClock())
    looks.store("vm/1", "free")

    assert [looks.take("vm/1"), looks.take("vm/1"), looks.take("vm/2")] == ["free", None, None]


@pytest.mark.parametrize(("seconds", "seen"), [(0.9, "free"), (1.1, None), (-5.0, None)])
def test_what_was_seen_long_ago_or_by_another_clock_is_forgotten(
    seconds: float, seen: str | None
) -> None:
    clock = JumpClock()
    looks = RecentReads(clock)
    looks.store("vm/1", "free")
    clock.jump(seconds)

    assert looks.take("vm/1") == seen
