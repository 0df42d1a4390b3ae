"""The YAML reader: source text, places, and a clear word for everything it refuses."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stockman.config.source.tree import (
    MappingNode,
    ScalarNode,
    SequenceNode,
    Unreadable,
    iter_scalars,
    to_plain_data,
)
from stockman.config.source.yaml_reader import read_yaml


def scalar_at(text: str, *path: str | int) -> ScalarNode:
    node: object = read_yaml("f.yaml", text)
    for step in path:
        if isinstance(node, MappingNode):
            node = node.get(str(step))
        elif isinstance(node, SequenceNode):
            node = node.items[int(step)]
    assert isinstance(node, ScalarNode)
    return node


@pytest.mark.parametrize("text", ["52:54:00:12:34:56", "1.10", "0123", "on", "1e3", "0o14", "no"])
def test_an_unquoted_value_stays_what_the_user_wrote(text: str) -> None:
    assert scalar_at(f"a: {text}\n", "a").text == text


def test_every_value_has_its_place() -> None:
    text = "a: 1\nlist:\n  - x\n  - {deep: yes}\n"

    assert str(scalar_at(text, "a").at) == "f.yaml:1:4"
    assert str(scalar_at(text, "list", 0).at) == "f.yaml:3:5"
    assert str(scalar_at(text, "list", 1, "deep").at) == "f.yaml:4:12"


def test_columns_count_characters_not_bytes() -> None:
    assert str(scalar_at("äöü: ß\n", "äöü").at) == "f.yaml:1:6"


def test_spans_cut_the_value_out_of_the_source() -> None:
    text = 'ä: "q"\nb: plain text\n'
    tree = read_yaml("f.yaml", text)

    assert [text[slice(*scalar_node.span)] for scalar_node in iter_scalars(tree)] == [
        '"q"',
        "plain text",
    ]


def test_an_empty_file_has_no_keys() -> None:
    assert read_yaml("f.yaml", "").entries == {}
    assert read_yaml("f.yaml", "# only a comment\n").entries == {}


def test_free_form_values_follow_yaml_1_2() -> None:
    text = "{a: 1, b: true, c: ~, d: '1', e: on, f: 1.5, g: 0x1f, h: .inf, i: 0o17, j: !!str 5}"

    assert to_plain_data(read_yaml("f.yaml", text)) == {
        "a": 1,
        "b": True,
        "c": None,
        "d": "1",
        "e": "on",
        "f": 1.5,
        "g": 31,
        "h": float("inf"),
        "i": 15,
        "j": "5",
    }


def test_what_is_not_a_number_is_one_of_the_floats() -> None:
    assert str(to_plain_data(read_yaml("f.yaml", "a: .nan"))) == "{'a': nan}"


def test_endless_digits_stay_text() -> None:
    assert to_plain_data(read_yaml("f.yaml", f"a: {'9' * 5000}")) == {"a": "9" * 5000}


def test_aliases_and_merges_repeat_what_the_anchor_holds() -> None:
    text = "a: &a {x: 1, y: 2}\nb: *a\nc: {<<: *a, y: 3}\nd: {<<: [*a, {z: 9}]}\n"

    assert to_plain_data(read_yaml("f.yaml", text)) == {
        "a": {"x": 1, "y": 2},
        "b": {"x": 1, "y": 2},
        "c": {"x": 1, "y": 3},
        "d": {"x": 1, "y": 2, "z": 9},
    }


@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        ("a: 1\na: 2\n", "yaml.duplicate-key", "f.yaml:2:1"),
        ("a:\n\tb: 1\n", "yaml.tab", "f.yaml:2:1"),
        ("a: *x\n", "yaml.unknown-anchor", "f.yaml:1:4"),
        ("a: &x [*x]\n", "yaml.recursive-alias", "f.yaml:1:8"),
        ("a: [1\n", "yaml.syntax", "f.yaml:2:1"),
        ("- 1\n", "config.not-a-mapping", "f.yaml:1:1"),
        ("just text\n", "config.not-a-mapping", "f.yaml:1:1"),
        ("a: b: c\n", "yaml.syntax", "f.yaml:1:5"),
        ("ok: 1\na: \x01\n", "yaml.character", "f.yaml:2:4"),
        ("a: 1\n---\nb: 2\n", "yaml.many-documents", "f.yaml:2:1"),
        ("a: " + "[" * 80, "yaml.too-deep", "f.yaml:1:67"),
        ("? [a]\n: b\n", "yaml.key", "f.yaml:1:3"),
        ("x: &k [1]\n*k : 1\n", "yaml.key", "f.yaml:2:1"),
        ("a: !foo 1\n", "yaml.tag", "f.yaml:1:4"),
        ("a: !foo {b: 1}\n", "yaml.tag", "f.yaml:1:4"),
        ("a: {<<: 5}\n", "yaml.merge", "f.yaml:1:9"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_place(text: str, code: str, place: str) -> None:
    with pytest.raises(Unreadable) as caught:
        read_yaml("f.yaml", text)

    assert (caught.value.problem.code, str(caught.value.problem.where)) == (code, place)


def test_an_alias_bomb_is_stopped_before_it_is_written_out() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 12)]

    with pytest.raises(Unreadable) as caught:
        read_yaml("f.yaml", "\n".join(lines))

    assert caught.value.problem.code == "yaml.alias-bomb"


def test_many_harmless_aliases_are_fine() -> None:
    text = "a: &a {x: 1}\nb: [" + ", ".join(["*a"] * 2000) + "]\n"

    assert len(to_plain_data(read_yaml("f.yaml", text))["b"]) == 2000  # type: ignore[index]


@given(st.text(max_size=200))
def test_any_text_gives_a_tree_or_a_problem(text: str) -> None:
    with suppress(Unreadable):
        to_plain_data(read_yaml("f.yaml", text))


@given(st.text(alphabet="[]{}&*!|>'\"%@`#,?:- \n\tab01", max_size=60))
def test_any_mix_of_indicators_gives_a_tree_or_a_problem(text: str) -> None:
    with suppress(Unreadable):
        to_plain_data(read_yaml("f.yaml", text))
