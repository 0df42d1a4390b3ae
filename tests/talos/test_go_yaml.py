"""YAML as Go writes it. What it writes was taken from its own output."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stockman.config.source.tree import MappingNode, SequenceNode, TreeNode
from stockman.config.source.yaml_reader import read_yaml
from stockman.talos.go_yaml import UnsupportedYamlValue, dump, sort_free_form, sort_keys

WRITTEN = {
    "plain": "plain",
    "console=ttyS0,115200": "console=ttyS0,115200",
    "-console": "-console",
    "a:b": "a:b",
    "": '""',
    "true": '"true"',
    "Off": '"Off"',
    "n": '"n"',
    "~": '"~"',
    "<<": '"<<"',
    "10": '"10"',
    "010": '"010"',
    "08": '"08"',
    "0x1f": '"0x1f"',
    "1_000": '"1_000"',
    "-0": '"-0"',
    "1e5": '"1e5"',
    "1e999": "1e999",
    ".5": '".5"',
    "18446744073709551615": '"18446744073709551615"',
    "-9223372036854775809": '"-9223372036854775809"',
    "12:30": '"12:30"',
    "2020-01-02": '"2020-01-02"',
    "2020-13-02": "2020-13-02",
    "2020-01-02T10:11:12Z": '"2020-01-02T10:11:12Z"',
    "2020-01-02T10:11:12": "2020-01-02T10:11:12",
    "it's": "it's",
    "a: b": "'a: b'",
    "a #b": "'a #b'",
    " a": "' a'",
    "'a: b'": "'''a: b'''",
    "- a": "'- a'",
    "[a": "'[a'",
    "a\tb": '"a\\tb"',
    "\x07": '"\\a"',
    "\U0001f600": '"\\U0001F600"',
    "é": "é",
}


@pytest.mark.parametrize(("text", "written"), WRITTEN.items())
def test_a_text_is_written_as_go_writes_it(text: str, written: str) -> None:
    assert dump({"a": text}) == f"a: {written}\n"


def test_collections_are_indented_as_go_indents_them() -> None:
    value = {"a": {"b": ["x", {"c": 1, "d": {"e": 2}}, ["u", "v"]]}, "f": {}, "g": []}

    assert dump(value) == (
        "a:\n"
        "    b:\n"
        "        - x\n"
        "        - c: 1\n"
        "          d:\n"
        "            e: 2\n"
        "        - - u\n"
        "          - v\n"
        "f: {}\n"
        "g: []\n"
    )


def test_several_lines_are_a_block_unless_it_would_lose_something() -> None:
    value = {"a": "b\n\nc\n", "d": ["e\nf"], "g": "h \ni", "k": "l\n\n"}

    assert dump(value) == (
        'a: |\n    b\n\n    c\nd:\n    - |-\n      e\n      f\ng: "h \\ni"\nk: |+\n    l\n\n'
    )


@pytest.mark.parametrize(
    ("number", "written"),
    [
        (1.5, "1.5"),
        (1.0, "1"),
        (0.0, "0"),
        (-2.5, "-2.5"),
        (1e6, "1e+06"),
        (123456.789, "123456.789"),
        (12345678.9, "1.23456789e+07"),
        (0.0001, "0.0001"),
        (1e-7, "1e-07"),
        (float("inf"), ".inf"),
        (float("nan"), ".nan"),
    ],
)
def test_a_fraction_is_written_as_go_writes_it(number: float, written: str) -> None:
    assert dump({"a": number}) == f"a: {written}\n"


def test_keys_of_a_map_are_in_the_order_of_go() -> None:
    assert sort_keys(["b10", "b9", "B", "a", "_", "b", "a1b", "a1"]) == [
        *("_", "B", "a", "a1", "a1b", "b", "b9", "b10")
    ]
    assert str(sort_free_form({"b": {"d": 1, "c": 2}, "a": [{"f": 1, "e": 2}]})) == (
        "{'a': [{'e': 2, 'f': 1}], 'b': {'c': 2, 'd': 1}}"
    )


@pytest.mark.parametrize("key", ["two\nlines", "x" * 129])
def test_a_key_with_a_form_of_its_own_is_refused(key: str) -> None:
    with pytest.raises(UnsupportedYamlValue):
        dump({key: 1})


TEXTS = st.text(
    st.characters(codec="utf-8", exclude_characters="\u2028\u2029", exclude_categories=["Cs"])
)


@given(st.dictionaries(st.sampled_from("abc"), TEXTS | st.lists(TEXTS), max_size=3))
def test_another_reader_reads_every_text_back(value: dict[str, object]) -> None:
    assert texts(read_yaml("a.yaml", dump(value))) == value


def texts(node: TreeNode) -> object:
    if isinstance(node, MappingNode):
        return {key: texts(entry.value) for key, entry in node.entries.items()}
    return [texts(item) for item in node.items] if isinstance(node, SequenceNode) else node.text
