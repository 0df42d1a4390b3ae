"""Text in comments of configuration files."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from stockman_lab.pve.formats.config_file import decode_text, encode_text


@given(st.text(st.characters(codec="utf-8")))
def test_any_text_can_be_read_back(text: str) -> None:
    encoded = encode_text(text)

    assert decode_text(encoded) == text
    assert encoded.isascii()
    assert "\n" not in encoded
