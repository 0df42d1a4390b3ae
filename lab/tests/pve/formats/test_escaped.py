"""Text in comments of configuration files."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stockman_lab.pve.formats.config_file import decode_text, encode_text


@pytest.mark.parametrize(
    ("text", "encoded"),
    [
        ("plain text, with #signs!", "plain text, with #signs!"),
        ("50%: done", "50%25%3A done"),
        ("Zürich", "Z%C3%BCrich"),
        ("a\tb", "a%09b"),
    ],
)
def test_what_is_unusual_and_colons_are_escaped(text: str, encoded: str) -> None:
    assert encode_text(text) == encoded
    assert decode_text(encoded) == text


@given(st.text(st.characters(codec="utf-8")))
def test_any_text_can_be_read_back(text: str) -> None:
    encoded = encode_text(text)

    assert decode_text(encoded) == text
    assert encoded.isascii()
    assert "\n" not in encoded
