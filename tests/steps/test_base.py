"""Parts of plans: known by kind, equal by value, without secrets."""

from __future__ import annotations

from typing import ClassVar
from uuid import UUID

import pytest

from stockman.model.names import Vmid
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.steps.base import Gate, PlanPart
from stockman.steps.serialization import load_part_classes, to_json
from tests.steps.toys import Ladder, Paint


def test_a_secret_in_an_action_is_a_mistake_of_its_maker() -> None:
    with pytest.raises(TypeError, match="give a SecretRef"):
        Paint(vmid=Vmid(1), uuid=UUID(int=1), labels=((Secret("hunter2"), 1),))  # type: ignore[arg-type]


def test_the_message_about_a_secret_does_not_tell_it() -> None:
    with pytest.raises(TypeError) as caught:
        Paint(vmid=Vmid(1), uuid=Secret("hunter2"))  # type: ignore[arg-type]

    assert "hunter2" not in str(caught.value)


def test_a_secret_is_not_written_either() -> None:
    with pytest.raises(TypeError, match="Secret cannot be in a plan"):
        to_json({"password": Secret("hunter2")})


def test_two_classes_cannot_be_of_one_kind() -> None:
    with pytest.raises(TypeError, match=r"are both toy\.ladder"):

        @record
        class Rope(Ladder):
            kind: ClassVar[str] = "toy.ladder"


def test_a_part_that_leaves_something_out_cannot_be_made() -> None:
    @record
    class Half(Gate):
        kind: ClassVar[str] = "toy.half"

    with pytest.raises(TypeError, match="abstract"):
        Half()  # type: ignore[abstract]


def test_equal_parts_have_one_key_and_others_another() -> None:
    assert Ladder(name="a").part_key == Ladder(name="a").part_key
    assert Ladder(name="a").part_key != Ladder(name="b").part_key


OF_THE_PRODUCT = sorted(
    name for name, kind in load_part_classes().items() if kind.__module__.startswith("stockman.")
)


@pytest.mark.parametrize("kind", OF_THE_PRODUCT)
def test_fields_of_every_kind_can_be_read_from_a_plan(kind: str) -> None:
    from stockman.steps.serialization import check_serializable

    check_serializable(PlanPart.known[kind])
