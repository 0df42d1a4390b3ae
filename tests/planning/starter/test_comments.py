"""Comments of files that are written."""

from hypothesis import given
from hypothesis import strategies as st

from stockman.planning.starter.comments import listing, paragraph


@given(st.text())
def test_whatever_a_server_says_stays_in_the_comment(text: str) -> None:
    lines = [*paragraph(text, "  "), *listing([(text, text)])]

    assert all(line.lstrip().startswith("#") for line in lines)
    assert all(line.isascii() and line.isprintable() for line in lines)


def test_long_lines_are_broken_and_lists_hang() -> None:
    lines = list(listing([("one", "word " * 40), ("another", "short")]))

    assert lines[0].startswith("#   one      word")
    assert lines[1].startswith("#            word")
    assert lines[-1] == "#   another  short"
    assert max(map(len, lines)) <= 100
