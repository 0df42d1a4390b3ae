"""Plans: graphs that hold together, whole or in part."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stockman.model.errors import Refused
from stockman.steps.plan import Plan
from stockman.steps.step import Stage, Step
from tests.steps.toys import paint, plan_of


@st.composite
def graphs(draw: st.DrawFn) -> Plan:
    count = draw(st.integers(1, 12))
    steps: list[Step] = []
    for number in range(count):
        needs = draw(st.sets(st.integers(0, number - 1))) if number else set()
        stage = draw(st.sampled_from(list(Stage)))
        steps.append(paint(number, *sorted(needs), stage=stage, node=f"n{number % 3}"))
    return plan_of(*draw(st.permutations(steps)))


def ids(plan: Plan) -> list[str]:
    return [step.id for step in plan.steps]


@given(graphs())
def test_every_step_comes_after_those_it_needs(plan: Plan) -> None:
    position = {name: number for number, name in enumerate(ids(plan))}

    assert all(position[need] < position[step.id] for step in plan.steps for need in step.needs)


@given(graphs(), st.sets(st.sampled_from(list(Stage)), min_size=1))
def test_a_selection_has_everything_that_it_needs_and_nothing_else(
    plan: Plan, stages: set[Stage]
) -> None:
    chosen = plan.only(stages)

    kept = set(ids(chosen))
    selected = {step.id for step in plan.steps if step.stage in stages}
    needed = {need for step in chosen.steps for need in step.needs}
    assert needed <= kept
    assert selected <= kept
    assert kept == selected | needed
    assert set(chosen.touched) == set(chosen.touches)


def test_until_a_step_leaves_out_what_comes_after_it() -> None:
    plan = plan_of(paint(1), paint(2, 1), paint(3, 2))

    assert ids(plan.until("p2")) == ["p1", "p2"]


def test_until_a_stage_has_the_stages_before_it() -> None:
    plan = plan_of(
        paint(1, stage=Stage.ACCESS), paint(2, stage=Stage.IMAGES), paint(3, stage=Stage.VMS)
    )

    assert ids(plan.until("images")) == ["p1", "p2"]


def test_a_node_is_chosen_with_what_its_steps_need() -> None:
    plan = plan_of(paint(1), paint(2, 1, node="cp-1"), paint(3, 1, node="cp-2"))

    assert ids(plan.for_nodes(["cp-2"])) == ["p1", "p3"]


def test_what_is_lost_is_said_once_for_each_step() -> None:
    assert plan_of(paint(1)).destroys == ("the old paint of VM 1",)


def test_equal_plans_come_in_one_order_whatever_order_they_were_given_in() -> None:
    assert ids(plan_of(paint(2, 1), paint(1))) == ["p1", "p2"]


@pytest.mark.parametrize(
    ("steps", "code"),
    [
        ((paint(1), paint(1)), r"plan\.step-twice"),
        ((paint(1, 7),), r"plan\.unknown-need"),
        ((paint(1, 2), paint(2, 1)), r"plan\.circle"),
    ],
)
def test_a_graph_that_does_not_hold_together_is_refused(steps: tuple[Step, ...], code: str) -> None:
    with pytest.raises(Refused, match=code):
        plan_of(*steps)


def test_a_node_or_step_that_is_not_there_is_refused() -> None:
    plan = plan_of(paint(1, node="cp-1"))

    with pytest.raises(Refused, match=r"plan\.no-such-node"):
        plan.for_nodes(["cp-9"])
    with pytest.raises(Refused, match=r"plan\.no-such-step"):
        plan.until("p9")
