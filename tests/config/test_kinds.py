from dataclasses import field
from enum import Enum
from ipaddress import IPv4Network
from typing import Annotated, Literal

import pytest

from stockman.config.reference.key_types import (
    AnyType,
    ListOf,
    MapOf,
    RecordType,
    ValueType,
    find_record_type,
    find_value_type,
    key_type,
    record_keys,
)
from stockman.model.formats import (
    DNS_LABEL,
    MAC_ADDRESS,
    NON_EMPTY,
    REQUIRED,
    Between,
    Example,
    MacText,
)
from stockman.model.hardware import Nic
from stockman.model.names import Mac
from stockman.model.origin import Traced
from stockman.model.record import record


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
    kind = key_type(Annotated[Annotated[int, Between(1, 9)] | None, Example("4")])

    assert kind == ValueType(int, limits=Between(1, 9), examples=("4",))


def test_an_identifier_is_what_it_is_made_of() -> None:
    assert key_type(Mac) == ValueType(str)
    assert key_type(MacText | None) == ValueType(str, MAC_ADDRESS, examples=(MAC_ADDRESS.example,))


def test_a_choice_lists_its_texts() -> None:
    assert key_type(Literal["a", "b"]) == ValueType(str, choices=("a", "b"))
    assert key_type(Colour) == ValueType(str, choices=("red", "blue"))


def test_lists_and_mappings_know_what_they_hold() -> None:
    assert key_type(Annotated[tuple[Nic, ...], NON_EMPTY]) == ListOf(
        RecordType(Nic), non_empty=True
    )
    assert key_type(dict[Annotated[str, DNS_LABEL], object]) == MapOf(AnyType(), names=DNS_LABEL)


def test_a_type_without_an_example_has_that_of_its_base() -> None:
    assert key_type(IPv4Network) == ValueType(IPv4Network, examples=("127.66.0.0/24",))


@pytest.mark.parametrize("hint", [float, int | str, bytes | None])
def test_what_no_file_can_hold_is_refused(hint: object) -> None:
    with pytest.raises(TypeError, match="not a type of the language"):
        key_type(hint)


def test_members_have_the_names_that_users_write() -> None:
    assert [member.name for member in record_keys(Pet)] == ["name", "class", "legs", "friends"]


def test_a_key_is_required_without_a_default_or_by_its_marker() -> None:
    assert [member.name for member in record_keys(Pet) if member.required] == ["name", "legs"]


def test_defaults_are_made_where_a_factory_makes_them() -> None:
    assert [member.default for member in record_keys(Pet)] == [None, None, None, {"a": "b"}]


def test_blocks_and_values_are_found_inside_lists_and_mappings() -> None:
    assert find_record_type(key_type(tuple[Nic, ...])) == RecordType(Nic)
    assert find_record_type(key_type(dict[str, int])) is None
    assert find_value_type(key_type(dict[str, int])) == ValueType(int)
    assert find_value_type(key_type(tuple[Nic, ...])) is None
