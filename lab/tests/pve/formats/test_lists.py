"""Lists in one text."""

from __future__ import annotations

from stockman_lab.pve.formats.lists import split_list


def test_between_nuls_everything_else_is_text() -> None:
    assert split_list("a, b\0c") == ["a, b", "c"]
