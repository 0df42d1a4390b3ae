"""Scalars are read and written as Perl does."""

from __future__ import annotations

import pytest
from stockman_lab.pve.schema.perl import integer, number, text_of


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


def test_digits_of_other_scripts_do_not_count() -> None:
    arabic_three = "\u0663"

    assert integer(arabic_three) == 0
    assert number(f"5{arabic_three}") == 5
