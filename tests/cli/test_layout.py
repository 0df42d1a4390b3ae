"""Text laid out for a width."""

import pytest

from stockman.cli.terminal import layout


@pytest.mark.parametrize(
    ("text", "columns"),
    [("40", 40), ("5", 20), ("", 80), ("0", 80), ("wide", 80), ("-3", 80), ("²", 80)],
)
def test_the_environment_tells_the_width_if_it_makes_sense(text: str, columns: int) -> None:
    assert layout.columns({"COLUMNS": text}, None) == columns


def test_help_is_never_wider_than_lines_can_be_read() -> None:
    assert layout.help_width({"COLUMNS": "300"}, None) == 100


def test_meanings_stand_beside_their_terms() -> None:
    rows = [("-v", "Tell more."), ("--quiet", "Tell nothing, whatever happens, to anybody at all.")]

    assert list(layout.definitions(rows, 60)) == [
        "  -v       Tell more.",
        "  --quiet  Tell nothing, whatever happens, to anybody at",
        "           all.",
    ]


def test_a_long_term_has_its_meaning_below() -> None:
    rows = [("-v", "Tell more."), ("-o, --output [table|json|yaml]", "Output format.")]

    assert list(layout.definitions(rows, 60)) == [
        "  -v  Tell more.",
        "  -o, --output [table|json|yaml]",
        "      Output format.",
    ]


def test_a_narrow_screen_has_every_meaning_below_its_term() -> None:
    assert list(layout.definitions([("--quiet", "Tell nothing.")], 40)) == [
        "  --quiet",
        "      Tell nothing.",
    ]


def test_a_term_that_is_too_long_is_broken_between_its_choices() -> None:
    rows = [("--preset [single|three-node|fifteen-node|home]", "Which one.")]

    assert list(layout.definitions(rows, 36)) == [
        "  --preset",
        "      [single|three-node|",
        "      fifteen-node|home]",
        "      Which one.",
    ]


def test_words_are_never_broken() -> None:
    assert layout.paragraph("see https://127.0.0.1/a-very-long-path-indeed now", 20) == [
        "see",
        "https://127.0.0.1/a-very-long-path-indeed",
        "now",
    ]
