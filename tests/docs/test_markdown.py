"""Pieces of Markdown hold whatever text they are given."""

import pytest

from docs._ext.markdown import block, code, page, table


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("nodes.vm", "`nodes.vm`"),
        ("a `b` c", "``a `b` c``"),
        ("`b`", "`` `b` ``"),
        ("a ``b", "```a ``b```"),
    ],
)
def test_inline_code_is_fenced_by_more_than_it_holds(text: str, written: str) -> None:
    assert code(text) == written


def test_a_block_is_fenced_by_more_than_it_holds() -> None:
    assert list(block("```sh\nls\n```\n", "text")) == ["````text", "```sh", "ls", "```", "````", ""]


def test_bars_in_cells_do_not_end_them() -> None:
    assert list(table(("Form",), [("`a|b`",)])) == ["| Form |", "| --- |", r"| `a\|b` |", ""]


def test_a_page_ends_with_one_newline() -> None:
    assert page("# Title", "", ["text", "", ""]) == "# Title\n\ntext\n"
