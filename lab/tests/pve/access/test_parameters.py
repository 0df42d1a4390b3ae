"""Values of request parameters."""

from __future__ import annotations

import pytest
from stockman_lab.pve.access.parameters import flag, listed, number, required, split_list, text
from stockman_lab.pve.errors import ApiError


@pytest.mark.parametrize(
    ("value", "found"),
    [("x", "x"), (7, "7"), (True, "1"), (False, "0"), (["a", 7], "a,7"), (None, None), ("", "")],
)
def test_a_value_as_text(value: object, found: str | None) -> None:
    assert text({"x": value}, "x") == found


@pytest.mark.parametrize(
    ("value", "found"), [("1", True), (1, True), (True, True), ("0", False), (0, False)]
)
def test_a_value_as_yes_or_no(value: object, found: bool) -> None:
    assert flag({"x": value}, "x") is found


def test_what_was_not_sent_is_neither_yes_nor_no() -> None:
    assert flag({}, "x") is None
    assert number({}, "x") is None
    assert listed({}, "x") == []


def test_a_value_as_number() -> None:
    assert number({"x": "42"}, "x") == 42
    with pytest.raises(ApiError) as caught:
        number({"x": "many"}, "x")
    assert caught.value.errors == {"x": "type check ('integer') failed - got 'many'"}


def test_a_value_that_has_to_be_there() -> None:
    with pytest.raises(ApiError) as caught:
        required({}, "x")

    assert caught.value.errors == {"x": "property is missing and it is not optional"}


@pytest.mark.parametrize(
    ("value", "items"),
    [
        ("a,b", ["a", "b"]),
        ("a;b c", ["a", "b", "c"]),
        (" a , b ", ["a", "b"]),
        ("a\0b c", ["a", "b c"]),
        ("", []),
    ],
)
def test_a_list_in_one_text(value: str, items: list[str]) -> None:
    assert split_list(value) == items
