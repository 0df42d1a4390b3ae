"""Records: frozen, compared by value, built by keyword."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, field, replace
from ipaddress import IPv4Address

import pytest

from stockman.model.record import record, to_plain_value
from stockman.model.secret import Secret


@record
class Wheel:
    spokes: int
    hub: str = "steel"
    marks: tuple[str, ...] = ()
    notes: dict[str, str] = field(default_factory=dict, compare=False, repr=False)


@record
class Cart(Wheel):
    wheels: tuple[Wheel, ...] = ()


def test_a_record_has_its_defaults() -> None:
    wheel = Wheel(spokes=12)

    assert (wheel.hub, wheel.marks, wheel.notes) == ("steel", (), {})


def test_two_records_of_equal_values_are_equal_and_hash_alike() -> None:
    wheel, other = Wheel(spokes=12, notes={"a": "b"}), Wheel(spokes=12)

    assert wheel == other
    assert hash(wheel) == hash(other)
    assert wheel != Wheel(spokes=13)


def test_records_of_different_classes_are_never_equal() -> None:
    assert Wheel(spokes=12) != Cart(spokes=12)


def test_a_record_cannot_be_changed() -> None:
    wheel = Wheel(spokes=12)

    with pytest.raises(FrozenInstanceError):
        wheel.spokes = 3  # type: ignore[misc]  # the point of the test
    with pytest.raises(FrozenInstanceError):
        del wheel.hub


def test_missing_and_unknown_fields_are_refused_by_name() -> None:
    with pytest.raises(TypeError, match="needs spokes"):
        Wheel()  # type: ignore[call-arg]  # the point of the test
    with pytest.raises(TypeError, match="has no colour"):
        Wheel(spokes=1, colour="red")  # type: ignore[call-arg]  # the point of the test


def test_a_copy_may_differ_in_one_field() -> None:
    assert replace(Wheel(spokes=12, hub="brass"), spokes=16) == Wheel(spokes=16, hub="brass")


def test_mutable_defaults_are_not_shared() -> None:
    assert Wheel(spokes=1).notes is not Wheel(spokes=1).notes


def test_the_text_of_a_record_shows_what_is_meant_to_be_shown() -> None:
    assert repr(Wheel(spokes=2)) == "Wheel(spokes=2, hub='steel', marks=())"


def test_plain_values_are_what_json_knows() -> None:
    cart = Cart(spokes=1, wheels=(Wheel(spokes=2, marks=("a",)),))

    assert to_plain_value(cart) == {
        "spokes": 1,
        "hub": "steel",
        "marks": [],
        "notes": {},
        "wheels": [{"spokes": 2, "hub": "steel", "marks": ["a"], "notes": {}}],
    }
    assert to_plain_value({"b": IPv4Address("127.0.0.1")}) == {"b": "127.0.0.1"}
    assert to_plain_value([Secret("x")]) == ["***"]
    assert to_plain_value({2, 1}) == [1, 2]
