"""What differs between a rendered object and the one in the cluster."""

from __future__ import annotations

import pytest

from stockman.assessment.drift.flux import differing_fields, format_value
from stockman.model.secret import Secret

WANTED = {"a": 1, "b": {"c": "x", "d": [1, {"e": 2}]}, "s": "${DOMAIN}"}
SAME = {"a": 1, "b": {"c": "x", "d": [1, {"e": 2, "more": 3}], "z": 9}, "s": "example.org", "n": 1}


def paths(wanted: object, value: object) -> list[str]:
    return [field_difference.key for field_difference in differing_fields(wanted, value)]


def test_what_others_add_and_what_flux_puts_in_does_not_count() -> None:
    assert paths(WANTED, SAME) == []


@pytest.mark.parametrize(
    ("value", "keys"),
    [
        ({**SAME, "a": 2}, ["a"]),
        ({**SAME, "b": {**SAME["b"], "c": "y"}}, ["b.c"]),  # type: ignore[dict-item]  # a mapping
        ({**SAME, "b": {**SAME["b"], "d": [1]}}, ["b.d"]),  # type: ignore[dict-item]  # a mapping
        ({**SAME, "b": None}, ["b"]),
        ({"b": SAME["b"], "s": "any"}, ["a"]),
    ],
)
def test_every_other_value_is_told_by_its_path(value: object, keys: list[str]) -> None:
    assert paths(WANTED, value) == keys


def test_secrets_are_not_compared_here() -> None:
    assert paths({"a": Secret("canary")}, {"a": "other"}) == []


def test_nothing_is_the_same_as_an_empty_mapping_or_list() -> None:
    assert paths({"a": {}, "b": []}, {}) == []


def test_values_are_shown_in_one_short_line() -> None:
    assert format_value(None) is None
    assert format_value(True) == "true"
    assert format_value("a\n b") == "a b"
    assert format_value([1, {"a": 2}]) == '[1, {"a": 2}]'
    assert len(format_value("x" * 200) or "") == 83
