"""Scalars are read and written as Perl does."""

from __future__ import annotations

import pytest
from stockman_lab.pve.schema.perl import integer, is_true, number, split_list, text_of


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1, "1"),
        (1.0, "1"),
        (0.1, "0.1"),
        (1e20, "1e+20"),
        (10**30, "1" + "0" * 30),
        (10**1000, "Inf"),
        (float("inf"), "Inf"),
        (True, "1"),
        (None, ""),
        (["a"], "ARRAY(0x0)"),
    ],
)
def test_a_scalar_has_one_text(value: object, text: str) -> None:
    assert text_of(value) == text


@pytest.mark.parametrize("value", ["", "0", 0, 0.0, None, False])
def test_these_are_false(value: object) -> None:
    assert not is_true(value)


@pytest.mark.parametrize("value", ["00", "0.0", " ", "a", 1, [], {}, True])
def test_these_are_true(value: object) -> None:
    assert is_true(value)


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("a,b;c d", ["a", "b", "c", "d"]),
        (",;a,,b, ", ["a", "b"]),
        ("", []),
        ("a b\0c,d\0", ["a b", "c,d"]),
        ("\0a", ["", "a"]),
        ("\0\0", []),
    ],
)
def test_lists_have_several_separators(text: str, items: list[str]) -> None:
    assert split_list(text) == items


def test_numbers_are_held_to_64_bits() -> None:
    assert integer("+7") == 7
    assert integer("9" * 400) == integer("9" * 20) == 2**63 - 1
    assert integer("-" + "9" * 400) == -(2**63 - 1)
    assert number("1.5e3") == 1500


def test_digits_of_other_scripts_do_not_count() -> None:
    arabic_three = "\u0663"

    assert integer(arabic_three) == 0
    assert number(f"5{arabic_three}") == 5
