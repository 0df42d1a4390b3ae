"""Tags of guests."""

from __future__ import annotations

import pytest
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.tags import TagStyle, changed_tags, check_tags, print_tags


@pytest.mark.parametrize("text", ["B;a;c", "c,B a", "a;b;c;A;B", " c , b;;a"])
def test_tags_are_stored_sorted_lower_case_and_once(text: str) -> None:
    assert print_tags(text) == "a;b;c"


def test_a_style_may_keep_case_and_order() -> None:
    assert print_tags("b;A;b", TagStyle(case_sensitive=True)) == "A;b"
    assert print_tags("b;A;B", TagStyle(keep_order=True)) == "b;a"


def test_a_tag_starts_with_a_letter_a_digit_or_an_underscore() -> None:
    check_tags("a;_b;9;go-proxmox+cloud-init;x.y")
    for text in ("-a", "a;b!", "ü"):
        with pytest.raises(FormatError, match="invalid characters in tag"):
            check_tags(text)


def test_only_tags_that_come_or_go_have_changed() -> None:
    assert changed_tags("a;b", "b;c") == ["a", "c"]
    assert changed_tags("a;b", "b a") == []
