"""Values of request parameters."""

from __future__ import annotations

import pytest
from stockman_lab.pve.access.parameters import number, required, text
from stockman_lab.pve.errors import ApiError


@pytest.mark.parametrize(
    ("value", "found"),
    [("x", "x"), (7, "7"), (True, "1"), (False, "0"), (["a", 7], "a,7"), (None, None), ("", "")],
)
def test_a_value_as_text(value: object, found: str | None) -> None:
    assert text({"x": value}, "x") == found


def test_a_value_as_number() -> None:
    assert number({"x": "42"}, "x") == 42
    with pytest.raises(ApiError) as caught:
        number({"x": "many"}, "x")
    assert caught.value.errors == {"x": "type check ('integer') failed - got 'many'"}


def test_a_value_that_has_to_be_there() -> None:
    with pytest.raises(ApiError) as caught:
        required({}, "x")

    assert caught.value.errors == {"x": "property is missing and it is not optional"}
