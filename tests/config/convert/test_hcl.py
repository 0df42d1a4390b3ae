"""Reading values of Terraform files."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stockman.config.convert.hcl import HclFile, read_hcl
from stockman.config.source.tree import Unreadable, to_plain_data


def read(text: str) -> HclFile:
    return read_hcl("variables.tf", text)


def values(text: str) -> object:
    return to_plain_data(read(text).body.attributes)


def problem(text: str) -> tuple[str, int, int]:
    with pytest.raises(Unreadable) as caught:
        read(text)
    where = caught.value.problem.where
    assert not isinstance(where, str)
    return caught.value.problem.code, where.line, where.column


def test_literals_of_all_kinds_are_values() -> None:
    text = """
    text   = "v1.11.5"
    number = -1.5e3
    whole  = 42
    yes    = true
    none   = null
    list   = ["a", 1, [true], ]
    object = { a = 1, "b c" : "x", 3 = "three" }
    empty  = {}
    """

    assert values(text) == {
        "text": "v1.11.5",
        "number": -1500.0,
        "whole": 42,
        "yes": True,
        "none": None,
        "list": ["a", 1, [True]],
        "object": {"a": 1, "b c": "x", "3": "three"},
        "empty": {},
    }


def test_blocks_have_labels_and_a_body() -> None:
    file = read(
        'variable "talos_version" {\n  type = string\n  default = "1.11.5"\n}\nlocals {\n}\n'
    )

    (variable,) = file.body.blocks_of_kind("variable")
    assert (variable.kind, variable.labels, variable.at.line) == (
        "variable",
        ("talos_version",),
        1,
    )
    assert to_plain_data(variable.body.attributes) == {"type": None, "default": "1.11.5"}
    assert [block.kind for block in file.body.blocks] == ["variable", "locals"]


def test_blocks_may_stand_inside_of_blocks_and_on_one_line() -> None:
    (outer,) = read('a "x" y {\n  b { c = 1 }\n  d = 2\n}').body.blocks

    assert outer.labels == ("x", "y")
    assert to_plain_data(outer.body.attributes) == {"d": 2}
    assert to_plain_data(outer.body.blocks[0].body.attributes) == {"c": 1}


def test_comments_are_stepped_over_everywhere() -> None:
    text = """
    # one
    // two
    /* three
       four */
    a = 1 # five
    b = 2 // six
    c = [ # seven
      "x", // eight
      /* nine */ "y" /* ten */
    ]
    d = {
      # eleven
      e = "#no" /* twelve */
    }
    """

    assert values(text) == {"a": 1, "b": 2, "c": ["x", "y"], "d": {"e": "#no"}}


def test_heredocs_keep_their_lines() -> None:
    text = "a = <<EOT\n  one\n    two\nEOT\nb = <<-EOT\n    one\n      two\n    EOT\nc = 1\n"

    assert values(text) == {"a": "  one\n    two\n", "b": "one\n  two\n", "c": 1}


def test_escapes_are_undone() -> None:
    text = r'a = "q\" b\\ n\n u\u00e9 U\U0001F600 $${x} %%{y} bad\U00110000"'

    assert values(text) == {"a": 'q" b\\ n\n ué U\U0001f600 ${x} %{y} bad\ufffd'}


@pytest.mark.parametrize(
    "expression",
    [
        "var.name",
        "local.a[0].b",
        '"${var.name}-1"',
        '"%{ if true }x%{ endif }"',
        '"a ${ { b = "}" }["b"] } c"',
        "1 + 2",
        '"a" == "b"',
        "true ? 1 : 2",
        'file("x.txt")',
        "-var.x",
        "[for x in y : x]",
        "{ for k, v in y : k => v }",
        '{ a = 1 }["a"]',
        "merge({\n  a = 1\n}, var.b)",
        "<<EOT\n${var.x}\nEOT",
        "(1)",
        "1.2.3",
    ],
)
def test_an_expression_is_null_and_listed(expression: str) -> None:
    file = read(f"before = 1\nvalue = {expression}\nafter = 2\n")

    assert to_plain_data(file.body.attributes) == {"before": 1, "value": None, "after": 2}
    assert [(at.line, at.column) for at in file.expressions] == [(2, 9)]


def test_expressions_inside_of_collections_are_listed_one_by_one() -> None:
    file = read('a = { b = var.x, c = 1, (d) = 2 }\ne = [var.y ?\n 1 : 2, "z"]\n')

    assert to_plain_data(file.body.attributes) == {"a": {"b": None, "c": 1}, "e": [None, "z"]}
    assert sorted((at.line, at.column) for at in file.expressions) == [(1, 11), (1, 25), (2, 6)]


def test_values_keep_their_place() -> None:
    entry = read('a = {\n  b = "x"\n}\n').body.attributes.entries["a"]

    assert (entry.key.at.line, entry.key.at.column) == (1, 1)
    assert (entry.value.at.line, entry.value.at.column) == (1, 5)


def test_line_ends_of_other_systems_are_line_ends() -> None:
    assert values("a = 1\r\nb = [\r\n  2,\r\n]\r\n") == {"a": 1, "b": [2]}


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("= 1", (1, 1)),
        ("a = ", (1, 5)),
        ("a = 1\nb {", (2, 4)),
        ("a = [1", (1, 7)),
        ("a = { b = 1", (1, 12)),
        ("a = { b }", (1, 9)),
        ("a = [1 b", (1, 9)),
        ('a = "x\n', (1, 7)),
        ("a = <<EOT\nx\n", (1, 5)),
        ("a = << \nx\n", (1, 5)),
        ("a = f(1", (1, 8)),
        ("a = f(/* 1", (1, 7)),
        ("}", (1, 1)),
        ("a = " + "[" * 70, (1, 69)),
        ("a = " + "f(" * 70, (1, 134)),
    ],
)
def test_text_that_makes_no_sense_is_refused_with_its_place(
    text: str, place: tuple[int, int]
) -> None:
    assert problem(text) == ("hcl.syntax", *place)


@given(st.text(alphabet='ab1= \n"{}[](),:#/*<$%\\-.', max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(Unreadable):
        read(text)
