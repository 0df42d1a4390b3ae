"""Time moves when it is told to, and things happen in their order."""

from __future__ import annotations

import pytest
from stockman_lab.core.timeline import Arguments, Timeline, TimelineState


class Diary:
    """Writes down what happens, and plans more where it is told to."""

    def __init__(self, now: float = 100.0) -> None:
        self.entries: list[tuple[float, str]] = []
        self.timeline = Timeline(TimelineState(now=now), self.happen)

    def happen(self, name: str, arguments: Arguments) -> None:
        self.entries.append((self.timeline.now, name))
        if "then" in arguments:
            self.timeline.after(float(str(arguments["in"])), str(arguments["then"]), {})


def test_nothing_happens_before_its_moment() -> None:
    diary = Diary()
    diary.timeline.after(10, "lamb", {})
    diary.timeline.run_until(109.9)
    assert diary.entries == []
    diary.timeline.run_until(110)
    assert diary.entries == [(110.0, "lamb")]


def test_the_clock_stands_where_it_was_told_to_go() -> None:
    diary = Diary()
    diary.timeline.after(10, "lamb", {})
    diary.timeline.run_until(150)
    assert diary.timeline.now == 150
    diary.timeline.run_until(120)
    assert diary.timeline.now == 150


def test_of_two_at_one_moment_the_first_planned_comes_first() -> None:
    diary = Diary()
    for name in ("ewe", "ram", "lamb"):
        diary.timeline.after(5, name, {})
    diary.timeline.run_all()
    assert [name for _, name in diary.entries] == ["ewe", "ram", "lamb"]


def test_what_happens_may_plan_more() -> None:
    diary = Diary()
    diary.timeline.after(1, "first", {"then": "second", "in": 2})
    diary.timeline.run_all()
    assert diary.entries == [(101.0, "first"), (103.0, "second")]
    assert diary.timeline.next_at is None


def test_a_saved_timeline_goes_on() -> None:
    diary = Diary()
    diary.timeline.after(3, "later", {})
    diary.timeline.after(1, "sooner", {})
    other = Diary()
    other.timeline = Timeline(diary.timeline.state, other.happen)
    other.timeline.run_all()
    assert [name for _, name in other.entries] == ["sooner", "later"]
    assert other.timeline.state.events == {}


def test_a_world_that_never_rests_is_an_error() -> None:
    state = TimelineState(now=0.0)
    timeline: Timeline

    def happen(name: str, arguments: Arguments) -> None:
        timeline.after(0, name, arguments)

    timeline = Timeline(state, happen)
    timeline.after(0, "again", {})
    with pytest.raises(RuntimeError, match="never comes to rest"):
        timeline.run_all()


def test_nobody_hurries_for_what_is_patient() -> None:
    diary = Diary()
    diary.timeline.after(3600, "every hour", {}, patient=True)
    diary.timeline.after(5, "boot", {})

    diary.timeline.run_all()

    assert [name for _, name in diary.entries] == ["boot"]
    assert diary.timeline.next_at is None
    assert diary.timeline.soonest_at == 3700.0


def test_what_is_patient_happens_when_its_moment_comes() -> None:
    diary = Diary()
    diary.timeline.after(2, "deadline", {}, patient=True)
    diary.timeline.after(5, "boot", {})

    diary.timeline.run_all()

    assert [name for _, name in diary.entries] == ["deadline", "boot"]


def test_a_saved_timeline_knows_what_was_patient() -> None:
    diary = Diary()
    diary.timeline.after(2, "deadline", {}, patient=True)

    timeline = Timeline(diary.timeline.state, diary.happen)

    assert timeline.next_at is None
    assert timeline.soonest_at == 102.0
