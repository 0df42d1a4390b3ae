"""Quantities have one form in which they are written."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stockman_lab.kube.schema.quantity import amount, canonical, is_quantity

UNITS = st.sampled_from(["", "n", "u", "m", "k", "M", "G", "T", "Ki", "Mi", "Gi", "Ti", "e3"])


@pytest.mark.parametrize(
    ("given", "written"),
    [
        *(("1000m", "1"), ("1.5", "1500m"), ("0.5Gi", "512Mi"), ("1024", "1024"), ("1000", "1k")),
        *(("0", "0"), ("0Gi", "0"), ("1536Ki", "1536Ki"), ("1023Ki", "1023Ki"), (".5", "500m")),
        *(("1e3", "1e3"), ("12E6", "12e6"), ("-1.5Gi", "-1536Mi"), ("100Mi", "100Mi"), (2, "2")),
        *(("0.5Ki", "512"), ("1.", "1"), ("0.1n", "1n"), ("1000Gi", "1000Gi"), (1.5, "1500m")),
    ],
)
def test_a_quantity_is_written_without_a_fraction(given: str | float, written: str) -> None:
    assert canonical(given) == written


@pytest.mark.parametrize("value", ["", "a", "1x", "1 Gi", "Gi", "1mi", True, None, [], "+-1"])
def test_what_is_no_quantity_is_known(value: object) -> None:
    assert not is_quantity(value)  # type: ignore[arg-type] # any JSON may come


@given(st.integers(min_value=-(10**6), max_value=10**6), UNITS)
def test_writing_changes_no_amount(number: int, unit: str) -> None:
    text = f"{number}{unit}"

    assert amount(canonical(text)) == amount(text)
    assert canonical(canonical(text)) == canonical(text)


def test_amounts_are_exact() -> None:
    assert amount("100m") * 3 == Fraction(3, 10)
    assert amount("1.5Gi") == 1536 * 1024**2
