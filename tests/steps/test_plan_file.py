"""Saved plans: the same after reading, or refused."""

from __future__ import annotations

import json
from dataclasses import replace
from ipaddress import IPv4Interface
from typing import Any
from uuid import UUID

import pytest

from stockman.model.errors import Refused
from stockman.model.names import Vmid
from stockman.steps.digest import digest
from stockman.steps.plan import SCHEMA, parse_plan, plan_digest, render_plan
from stockman.steps.secret_ref import SecretRef
from stockman.steps.step import Stage, Step
from tests.steps.toys import Colour, Dry, Ladder, Paint, Spot, paint, plan_of

FULL = plan_of(
    Step(
        id="all",
        action=Paint(
            vmid=Vmid(1030),
            uuid=UUID(int=5),
            spots=(Spot(at=IPv4Interface("10.42.0.5/24"), colour=Colour.GREEN),),
            password=SecretRef(place="sops:talos/talsecret.sops.yaml#secrets.token"),
            labels=(("a", 1), ("b", 2)),
        ),
        stage=Stage.VMS,
        gates=(Dry(humidity=0.25),),
        holds=(Ladder(name="long"),),
        needs=("p1",),
    ),
    paint(1),
)


def edit_plan(**changes: Any) -> str:
    """The file of the full plan with other keys, and the digest that fits them."""
    content = json.loads(render_plan(FULL))
    content["plan"] |= changes
    content["digest"] = digest(content["plan"])
    return json.dumps(content)


def refusal_of(text: str) -> str:
    with pytest.raises(Refused) as caught:
        parse_plan(text, "plan.json")
    return caught.value.problem.code


def test_a_plan_is_the_same_after_it_was_read() -> None:
    assert parse_plan(render_plan(FULL), "plan.json") == FULL


def test_equal_plans_have_one_digest() -> None:
    assert plan_digest(FULL) == plan_digest(parse_plan(render_plan(FULL), "plan.json"))
    assert plan_digest(FULL) != plan_digest(replace(FULL, cluster="other"))


def test_whole_seconds_are_the_same_in_both_spellings() -> None:
    plan = plan_of(replace(paint(1), deadline=60, seconds=5))

    assert plan_digest(plan) == plan_digest(parse_plan(render_plan(plan), "plan.json"))


def test_an_edited_plan_is_refused() -> None:
    assert refusal_of(render_plan(FULL).replace("1030", "1031")) == "plan.damaged"


def test_a_plan_of_another_schema_is_refused() -> None:
    assert refusal_of(render_plan(FULL).replace(SCHEMA, "stockman.plan/9")) == "plan.schema"


def test_a_kind_that_nobody_knows_is_refused() -> None:
    steps = json.loads(render_plan(FULL))["plan"]["steps"]
    steps[0]["action"]["kind"] = "toy.sing"

    assert refusal_of(edit_plan(steps=steps)) == "plan.kind"


def test_a_gate_in_the_place_of_an_action_is_refused() -> None:
    steps = json.loads(render_plan(FULL))["plan"]["steps"]
    steps[0]["action"] = {"kind": "toy.dry"}

    assert refusal_of(edit_plan(steps=steps)) == "plan.kind"


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", edit_plan(cluster=5), edit_plan(more=1), edit_plan(made_at="x")]
)
def test_what_is_no_plan_is_refused(text: str) -> None:
    assert refusal_of(text) == "plan.unreadable"
