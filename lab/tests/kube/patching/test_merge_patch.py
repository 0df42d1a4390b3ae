"""Merge patches: null takes away, lists are replaced."""

from __future__ import annotations

from stockman_lab.kube.patching.merge_patch import merge_patched


def test_null_takes_a_field_away_and_the_rest_stays() -> None:
    assert merge_patched({"a": {"b": 1, "c": 2}, "d": 3}, {"a": {"b": None}}) == {
        "a": {"c": 2},
        "d": 3,
    }


def test_a_list_is_replaced() -> None:
    assert merge_patched({"a": [1, 2]}, {"a": [3]}) == {"a": [3]}


def test_nulls_in_what_is_new_are_left_away() -> None:
    assert merge_patched({}, {"a": {"b": None, "c": [None, 1]}}) == {"a": {"c": [1]}}
