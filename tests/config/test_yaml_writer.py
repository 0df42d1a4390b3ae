"""The YAML writer, judged by a YAML 1.1 reader (PyYAML) and by ours (YAML 1.2)."""

import math

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from stockman.config.source.tree import to_plain_data
from stockman.config.source.yaml_reader import read_yaml
from stockman.config.writers.yaml_writer import (
    Commented,
    format_scalar,
    render_yaml,
    render_yaml_document,
    strip_comments,
)

LOOKALIKE = st.text(alphabet="0123456789abcdefoxABEF_:.,+-eTZ ~=<yn", max_size=12)
INDICATOR = st.text(alphabet="-?:,[]{}#&*!|>'\"%@` \tab\n\\", max_size=8)
LINES = st.lists(st.text(alphabet="ab #:-\t", max_size=6), max_size=6).map("\n".join)
TEXT = st.one_of(st.text(max_size=20), LOOKALIKE, INDICATOR, LINES)
SCALAR = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), TEXT)
VALUE = st.recursive(
    SCALAR,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
COMMENT = st.text(alphabet="ab:'\"#[]{}- é", max_size=12).map(str.strip)


def noted(inner: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    lines = st.lists(COMMENT, max_size=2).map(tuple)
    return st.builds(Commented, value=inner, above=lines, beside=COMMENT, below=lines)


NOTED_VALUE = st.recursive(
    SCALAR,
    lambda inner: (
        st.lists(noted(inner), max_size=3) | st.dictionaries(TEXT, noted(inner), max_size=3)
    ),
    max_leaves=8,
)


def read_1_1(text: str) -> object:
    return yaml.safe_load(text)


def read_1_2(text: str) -> object:
    inside = "\n".join(f"  {line}" if line else "" for line in text.split("\n"))
    return to_plain_data(read_yaml("cluster.yaml", f"value:\n{inside}").entries["value"].value)


@given(VALUE)
def test_a_yaml_1_1_reader_gets_the_value_back(value: object) -> None:
    assert read_1_1(render_yaml(value)) == value


@given(VALUE)
def test_our_reader_gets_the_value_back(value: object) -> None:
    assert read_1_2(render_yaml({"key": value})) == {"key": value}


@given(NOTED_VALUE)
def test_comments_change_no_value(value: object) -> None:
    text = render_yaml({"key": value})

    assert read_1_1(text) == read_1_2(text) == {"key": strip_comments(value)}


@given(VALUE)
def test_a_second_run_changes_nothing(value: object) -> None:
    first = render_yaml(value)

    assert render_yaml(read_1_1(first)) == first


@given(VALUE)
def test_a_text_ends_with_one_newline_and_knows_no_other_line_ends(value: object) -> None:
    text = render_yaml(value)

    assert text.endswith("\n")
    assert not set(text) & set("\r\x85\u2028\u2029\ufeff")


@given(TEXT)
def test_a_scalar_is_one_line(text: str) -> None:
    written = format_scalar(text)

    assert "\n" not in written
    assert read_1_1(f"key: {written}\n") == {"key": text}


@pytest.mark.parametrize(
    "text",
    [
        "",
        " leading",
        "trailing ",
        "yes",
        "No",
        "ON",
        "off",
        "y",
        "true",
        "null",
        "~",
        "=",
        "<<",
        "1:30",
        "52:54:00:12:34:56",
        "bc:24:11:00:00:11",
        "190:20:30.15",
        "1e3",
        "1.10",
        "0o14",
        "0123",
        "0x1F",
        "1_000",
        ".5",
        ".inf",
        "2001-12-14",
        "key: value",
        "key:",
        "text # no comment",
        "# text",
        "- item",
        "---",
        "...",
        "&anchor",
        "*alias",
        "!tag",
        "%directive",
        "@at",
        "`tick",
        "[list]",
        "{map}",
        "tab\there",
        "nel\x85",
        "bom\ufeff",
    ],
)
def test_what_could_be_misread_is_quoted(text: str) -> None:
    assert format_scalar(text)[0] in "\"'"


@pytest.mark.parametrize(
    "text",
    [
        "kubernetes",
        "127.66.0.10",
        "127.66.0.0/24",
        "1.12.1",
        "v1.12.0",
        "/dev/sda",
        "https://127.66.0.4:8006",
        "${CLOUDFLARE_TOKEN}",
        "owner/repo",
        "user@pve!token",
        "two words",
        "Grüße",
        "nothing",
    ],
)
def test_what_cannot_be_misread_stays_bare(text: str) -> None:
    assert format_scalar(text) == text


def test_quotes_are_single_where_that_saves_escapes() -> None:
    assert format_scalar('say "no" \\ #') == 'say "no" \\ #'.join("''")
    assert format_scalar("- it's") == '"- it\'s"'


def test_the_layout_is_what_people_write() -> None:
    value = {
        "name": "k8s",
        "nodes": [{"name": "a", "tags": ["x", "y"]}, {"name": "b", "vm": {"cores": 4}}],
        "script": "first\nsecond\n",
        "none": [],
        "empty": {},
        "grid": [[1, 2], [3]],
    }

    assert render_yaml_document(value) == (
        "---\n"
        "name: k8s\n"
        "nodes:\n"
        "  - name: a\n"
        "    tags:\n"
        "      - x\n"
        '      - "y"\n'
        "  - name: b\n"
        "    vm:\n"
        "      cores: 4\n"
        "script: |\n"
        "  first\n"
        "  second\n"
        "none: []\n"
        "empty: {}\n"
        "grid:\n"
        "  - - 1\n"
        "    - 2\n"
        "  - - 3\n"
    )


def test_comments_stand_above_beside_and_below() -> None:
    value = {
        "a": Commented(value=1, above=("first", "", "second"), beside="why", below=("end",)),
        "b": Commented(value=[Commented(value={"c": 1}, above=("item",))], beside="list"),
    }

    assert render_yaml(value) == (
        "# first\n\n# second\na: 1  # why\n# end\nb:  # list\n  # item\n  - c: 1\n"
    )


def test_a_long_key_has_a_line_of_its_own() -> None:
    key = "k" * 1500

    assert read_1_1(render_yaml({key: {"a": 1}})) == {key: {"a": 1}}
    assert read_1_2(render_yaml({key: [1]})) == {key: [1]}


def test_what_is_no_number_is_written_as_yaml_knows_it() -> None:
    assert render_yaml(math.nan) == ".nan\n"
    assert render_yaml([math.inf, -math.inf, 1e22]) == "- .inf\n- -.inf\n- 1.0e+22\n"


@pytest.mark.parametrize("value", [{1: "a"}, {"a": object()}, b"bytes"])
def test_what_yaml_has_no_place_for_is_refused(value: object) -> None:
    with pytest.raises(TypeError):
        render_yaml(value)
