"""How long a plan takes."""

from __future__ import annotations

from datetime import timedelta

from stockman.engine.journal import EntryType, JournalEntry
from stockman.engine.state import (
    critical_path,
    fold_entries,
    seconds_left,
    seconds_to_end,
)
from tests.engine.simulated import MORNING
from tests.engine.toys import make, plan_of

PLAN = plan_of(
    make("image", seconds=60.0),
    make("vm", "image", seconds=20.0),
    make("other", seconds=30.0),
    make("boot", "vm", "other", seconds=10.0),
)
NOTHING = fold_entries("one", ())


def test_the_critical_path_is_the_longest_chain() -> None:
    assert [step.id for step in critical_path(PLAN)] == ["image", "vm", "boot"]


def test_a_step_counts_with_everything_that_waits_for_it() -> None:
    assert seconds_to_end(PLAN) == {"image": 90.0, "vm": 30.0, "other": 40.0, "boot": 10.0}


def test_what_is_done_takes_no_time() -> None:
    state = fold_entries(
        "one", [JournalEntry(number=1, at=MORNING, event=EntryType.FINISHED, step="image")]
    )

    assert seconds_left(PLAN, NOTHING, MORNING) == 90.0
    assert seconds_left(PLAN, state, MORNING) == 40.0


def test_what_runs_has_its_rest_to_go() -> None:
    state = fold_entries(
        "one", [JournalEntry(number=1, at=MORNING, event=EntryType.STARTED, step="image")]
    )

    later = MORNING + timedelta(seconds=45)

    assert seconds_left(PLAN, state, later) == 45.0


def test_a_narrow_lane_takes_longer_than_the_longest_chain() -> None:
    steps = [make(name, lanes=("disk",), seconds=10.0) for name in "abcdef"]

    assert seconds_left(plan_of(*steps), NOTHING, MORNING) == 60.0
    assert seconds_left(plan_of(*steps, lanes={"disk": 3}), NOTHING, MORNING) == 20.0
