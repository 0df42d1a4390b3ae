from dataclasses import field
from enum import Enum
from ipaddress import IPv4Network
from typing import Annotated, Literal

import pytest

from stockman.config.kinds import (
    Block,
    Free,
    ListOf,
    MapOf,
    Value,
    block_in,
    kind_of,
    members,
    value_in,
)
from stockman.model.hardware import Nic
from stockman.model.names import Mac
from stockman.model.origin import Traced
from stockman.model.record import record
from stockman.model.shapes import (
    DNS_LABEL,
    MAC_ADDRESS,
    NON_EMPTY,
    REQUIRED,
    Between,
    Example,
    MacText,
)


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


@record
class Pet(Traced):
    """A pet."""

    name: str
    class_: str | None = None
    legs: Annotated[int | None, REQUIRED] = None
    friends: dict[str, str] = field(default_factory=lambda: {"a": "b"})


def test_a_value_keeps_its_markers_however_deep_they_stand() -> None:
    kind = kind_of(Annotated[Annotated[int, Between(1, 9)] | None, Example("4")])

    assert kind == Value(int, limits=Between(1, 9), examples=("4",))


def test_an_identifier_is_what_it_is_made_of() -> None:
    assert kind_of(Mac) == Value(str)
    assert kind_of(MacText | None) == Value(str, MAC_ADDRESS, examples=(MAC_ADDRESS.example,))


def test_a_choice_lists_its_texts() -> None:
    assert kind_of(Literal["a", "b"]) == Value(str, choices=("a", "b"))
    assert kind_of(Colour) == Value(str, choices=("red", "blue"))


def test_lists_and_mappings_know_what_they_hold() -> None:
    assert kind_of(Annotated[tuple[Nic, ...], NON_EMPTY]) == ListOf(Block(Nic), filled=True)
    assert kind_of(dict[Annotated[str, DNS_LABEL], object]) == MapOf(Free(), names=DNS_LABEL)


def test_a_type_without_an_example_has_that_of_its_base() -> None:
    assert kind_of(IPv4Network) == Value(IPv4Network, examples=("127.66.0.0/24",))


@pytest.mark.parametrize("hint", [float, int | str, bytes | None])
def test_what_no_file_can_hold_is_refused(hint: object) -> None:
    with pytest.raises(TypeError, match="not a type of the language"):
        kind_of(hint)


def test_members_have_the_names_that_users_write() -> None:
    assert [member.name for member in members(Pet)] == ["name", "class", "legs", "friends"]


def test_a_key_is_required_without_a_default_or_by_its_marker() -> None:
    assert [member.name for member in members(Pet) if member.required] == ["name", "legs"]


def test_defaults_are_made_where_a_factory_makes_them() -> None:
    assert [member.default for member in members(Pet)] == [None, None, None, {"a": "b"}]


def test_blocks_and_values_are_found_inside_lists_and_mappings() -> None:
    assert block_in(kind_of(tuple[Nic, ...])) == Block(Nic)
    assert block_in(kind_of(dict[str, int])) is None
    assert value_in(kind_of(dict[str, int])) == Value(int)
    assert value_in(kind_of(tuple[Nic, ...])) is None
