"""Lists in one text."""

from __future__ import annotations

import pytest
from stockman_lab.pve.formats.lists import split_list


@pytest.mark.parametrize("text", ["a,b,c", "a;b;c", "a b c", " a,; b\tc ", "a\0b\0c"])
def test_many_things_separate_parts(text: str) -> None:
    assert split_list(text) == ["a", "b", "c"]


def test_nothing_has_no_parts() -> None:
    assert split_list("") == []
    assert split_list(" ;, ") == []


def test_between_nuls_everything_else_is_text() -> None:
    assert split_list("a, b\0c") == ["a, b", "c"]
