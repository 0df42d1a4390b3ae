"""Which steps begin next."""

from __future__ import annotations

from collections import Counter

from stockman.engine.executor import StepQueue
from stockman.steps.plan import Plan
from tests.engine.toys import make, plan_of


def taken(waiting: StepQueue, room: int = 9, busy: Counter[str] | None = None) -> list[str]:
    return [step.id for step in waiting.take(room, Counter() if busy is None else busy)]


def chain() -> Plan:
    return plan_of(make("a"), make("b", "a"), make("c", "a", "b"))


def test_a_step_waits_until_all_that_it_needs_is_finished() -> None:
    plan = chain()
    waiting = StepQueue(plan, set())

    assert taken(waiting) == ["a"]
    assert taken(waiting) == []
    waiting.release_followers(plan.step("a"))
    assert taken(waiting) == ["b"]
    waiting.release_followers(plan.step("b"))
    assert taken(waiting) == ["c"]


def test_what_was_done_before_is_not_waited_for() -> None:
    assert taken(StepQueue(chain(), {"a", "b"})) == ["c"]


def test_those_begin_first_that_the_most_waits_for_and_then_as_planned() -> None:
    plan = plan_of(
        make("x"), make("y"), make("long"), make("after", "long", seconds=60.0), make("z")
    )

    assert taken(StepQueue(plan, set())) == ["long", "x", "y", "z"]
    assert taken(StepQueue(plan, set()), room=2) == ["long", "x"]


def test_a_full_lane_is_passed_by_those_on_others() -> None:
    plan = plan_of(
        make("a", lanes=("disk",)),
        make("b", lanes=("disk",)),
        make("c", lanes=("disk", "host")),
        make("d"),
        lanes={"disk": 2},
    )
    waiting = StepQueue(plan, set())
    busy: Counter[str] = Counter({"disk": 1})

    assert taken(waiting, busy=busy) == ["a", "d"]
    assert busy["disk"] == 2
    busy.subtract(("disk",))
    assert taken(waiting, busy=busy) == ["b"]


def test_a_step_that_had_no_effect_waits_at_its_old_place() -> None:
    plan = plan_of(make("a"), make("b"))
    waiting = StepQueue(plan, set())
    waiting.take(9, Counter())

    waiting.add(plan.step("b"))
    waiting.add(plan.step("a"))

    assert taken(waiting) == ["a", "b"]
