"""Tags of guests."""

from __future__ import annotations

import pytest
from stockman_lab.pve.formats.tags import TagStyle, changed_tags, print_tags


@pytest.mark.parametrize("text", ["B;a;c", "c,B a", "a;b;c;A;B", " c , b;;a"])
def test_tags_are_stored_sorted_lower_case_and_once(text: str) -> None:
    assert print_tags(text) == "a;b;c"


def test_a_style_may_keep_case_and_order() -> None:
    assert print_tags("b;A;b", TagStyle(case_sensitive=True)) == "A;b"
    assert print_tags("b;A;B", TagStyle(keep_order=True)) == "b;a"


def test_only_tags_that_come_or_go_have_changed() -> None:
    assert changed_tags("a;b", "b;c") == ["a", "c"]
    assert changed_tags("a;b", "b a") == []
