"""Faults strike where, when and as often as they should."""

from __future__ import annotations

from stockman_lab.core.faults import Effect, Fault, Faults, Point

FACTS = {"cluster": "meadow", "type": "qmclone", "node": "pve1"}


def struck(faults: Faults, now: float = 0.0, **facts: object) -> bool:
    return faults.due(Point.TASK, now, {**FACTS, **facts}) is not None


def test_a_fault_strikes_once_unless_told_otherwise() -> None:
    faults = Faults()
    faults.add(Fault(Point.TASK, Effect.FAIL))
    assert [struck(faults), struck(faults)] == [True, False]


def test_it_strikes_as_often_as_told() -> None:
    faults = Faults()
    faults.add(Fault(Point.TASK, Effect.FAIL, times=3))
    assert [struck(faults) for _ in range(5)] == [True, True, True, False, False]


def test_it_strikes_for_ever_where_times_is_none() -> None:
    faults = Faults()
    faults.add(Fault(Point.TASK, Effect.FAIL, times=None))
    assert all(struck(faults) for _ in range(20))


def test_occasions_can_be_spared_first() -> None:
    faults = Faults()
    faults.add(Fault(Point.TASK, Effect.FAIL, skip=2))
    assert [struck(faults) for _ in range(4)] == [False, False, True, False]


def test_only_fitting_occasions_count() -> None:
    faults = Faults()
    faults.add(Fault(Point.TASK, Effect.FAIL, match={"type": "qm*", "node": "pve2"}))
    assert not struck(faults)
    assert not struck(faults, node="pve2", type="vzstart")
    assert struck(faults, node="pve2")


def test_other_points_are_left_alone() -> None:
    faults = Faults()
    faults.add(Fault(Point.BOOT, Effect.FAIL))
    assert not struck(faults)


def test_a_fault_waits_for_its_time_and_ends_with_it() -> None:
    faults = Faults()
    faults.add(Fault(Point.TASK, Effect.FAIL, since=10, until=20, times=None))
    assert [struck(faults, now) for now in (9, 10, 20, 21)] == [False, True, True, False]


def test_looking_at_a_lasting_fault_uses_nothing_up() -> None:
    faults = Faults()
    faults.add(Fault(Point.QUORUM, Effect.FAIL, times=1))
    assert all(faults.holds(Point.QUORUM, 0, {}) is not None for _ in range(3))


def test_faults_have_numbers_and_can_be_taken_back() -> None:
    faults = Faults()
    first, second = (faults.add(Fault(Point.TASK, Effect.FAIL)) for _ in range(2))
    assert (first.number, second.number) == (1, 2)
    assert faults.remove(1)
    assert not faults.remove(1)
    assert [one.number for one in faults.listed] == [2]
