"""Tables at every width."""

from hypothesis import given
from hypothesis import strategies as st

from stockman.cli.terminal.styles import display_width, paint_text
from stockman.cli.terminal.tables import Cell, table, wrap

HEADERS = ("NAME", "ADDRESS", "WHY")
ROWS = [
    ("k8s-ctrl-1", "10.20.66.11/23", "controller"),
    ("k8s-work-14", "10.20.66.34/23", "has the RTX A5000 and therefore three cards"),
]


def test_without_a_width_columns_are_as_wide_as_their_content() -> None:
    assert list(table(HEADERS, ROWS)) == [
        "NAME         ADDRESS         WHY",
        "k8s-ctrl-1   10.20.66.11/23  controller",
        "k8s-work-14  10.20.66.34/23  has the RTX A5000 and therefore three cards",
    ]


def test_the_widest_column_shrinks_first_and_wraps_between_words() -> None:
    assert list(table(HEADERS, ROWS, width=52)) == [
        "NAME         ADDRESS         WHY",
        "k8s-ctrl-1   10.20.66.11/23  controller",
        "k8s-work-14  10.20.66.34/23  has the RTX A5000 and",
        "                             therefore three cards",
    ]


def test_where_columns_are_too_many_every_row_becomes_a_block() -> None:
    assert list(table(HEADERS, ROWS, width=26)) == [
        "NAME     k8s-ctrl-1",
        "ADDRESS  10.20.66.11/23",
        "WHY      controller",
        "",
        "NAME     k8s-work-14",
        "ADDRESS  10.20.66.34/23",
        "WHY      has the RTX A5000",
        "         and therefore",
        "         three cards",
    ]


def test_a_word_that_is_too_long_is_cut() -> None:
    assert wrap("ab cdefgh", 4) == ["ab", "cdef", "gh"]


def test_wide_characters_count_as_two_columns() -> None:
    assert wrap("猫猫猫", 4) == ["猫猫", "猫"]


def test_a_row_may_be_shorter_than_the_headers() -> None:
    assert list(table(("A", "B"), [("x",), ("", "y")])) == ["A  B", "x", "   y"]


def test_a_table_without_rows_is_its_headers() -> None:
    assert list(table(("A", "B"), [])) == ["A  B"]


def test_colours_do_not_move_columns() -> None:
    rows = [(Cell("bad", "error"), "x"), (Cell("fine", "good"), "y")]

    assert list(table(("A", "B"), rows, paint=paint_text)) == [
        "\x1b[1mA\x1b[0m     \x1b[1mB\x1b[0m",
        "\x1b[1;31mbad\x1b[0m   x",
        "\x1b[32mfine\x1b[0m  y",
    ]


def test_control_characters_are_written_out() -> None:
    assert list(table(("A",), [("x\x1b[2Jy\nz",)])) == ["A", "x\\x1b[2Jy\\nz"]


CELLS = st.text(st.characters(codec="utf-8"), max_size=30)


@given(st.lists(st.tuples(CELLS, CELLS, CELLS), max_size=5), st.integers(20, 120))
def test_no_line_is_too_wide_and_none_ends_in_spaces(
    rows: list[tuple[str, str, str]], width: int
) -> None:
    lines = list(table(HEADERS, rows, width=width))

    assert all(display_width(line) <= width for line in lines)
    assert all(line.rstrip(" ") == line or line.strip() == "" for line in lines)
