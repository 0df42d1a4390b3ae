"""Colours, widths, and text that cannot steer a terminal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stockman.cli.terminal.styles import display_width, escape_control, paint_text, plain_text


def test_a_style_wraps_the_text() -> None:
    assert paint_text("bad", "error") == "\x1b[1;31mbad\x1b[0m"


@pytest.mark.parametrize(("text", "style"), [("", "error"), ("plain", "")])
def test_nothing_to_paint_stays_as_it_is(text: str, style: str) -> None:
    assert paint_text(text, style) == text


def test_without_colours_styles_do_nothing() -> None:
    assert plain_text("bad", "error") == "bad"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text", "plain text"),
        ("Zoë 猫", "Zoë 猫"),
        ("\x1b[2J", "\\x1b[2J"),
        ("two\nlines", "two\\nlines"),
        ("\u202ereversed", "\\u202ereversed"),
        ("\udcff", "\\udcff"),
        ("non\u00a0breaking", "non\u00a0breaking"),
    ],
)
def test_what_could_steer_a_terminal_is_written_out(text: str, shown: str) -> None:
    assert escape_control(text) == shown


@given(st.text())
def test_what_is_visible_has_no_control_characters(text: str) -> None:
    assert not any(
        ord(character) < 32 or ord(character) == 127 for character in escape_control(text)
    )


@pytest.mark.parametrize(("text", "columns"), [("abc", 3), ("猫", 2), ("e\u0301", 1), ("", 0)])
def test_width_is_counted_in_columns(text: str, columns: int) -> None:
    assert display_width(text) == columns
