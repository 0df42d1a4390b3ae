"""The TOML writer, judged by tomllib and by our reader."""

import math
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stockman.config.source.toml_reader import read_toml
from stockman.config.source.tree import to_plain_data
from stockman.config.writers.toml_writer import render_toml
from stockman.config.writers.yaml_writer import Commented, strip_comments

QUOTES = st.text(alphabet="\"'\\\n\r\tab#= \x7f\x00", max_size=10)
TEXT = st.one_of(st.text(max_size=20), QUOTES)
FINITE = st.floats(allow_nan=False, allow_infinity=False)
SCALAR = st.one_of(st.booleans(), st.integers(), FINITE, TEXT)
VALUE = st.recursive(
    SCALAR,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
DOCUMENT = st.dictionaries(TEXT, VALUE, max_size=5)
COMMENT = st.text(alphabet="ab:'\"#[]{}=- é", max_size=12).map(str.strip)


def noted(inner: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    lines = st.lists(COMMENT, max_size=2).map(tuple)
    return st.builds(Commented, value=inner, above=lines, beside=COMMENT, below=lines)


NOTED_VALUE = st.recursive(
    SCALAR,
    lambda inner: (
        st.lists(noted(inner), max_size=3) | st.dictionaries(TEXT, noted(inner), max_size=3)
    ),
    max_leaves=10,
)


@given(DOCUMENT)
def test_tomllib_gets_the_value_back(value: dict[str, object]) -> None:
    assert tomllib.loads(render_toml(value)) == value


@given(DOCUMENT)
def test_our_reader_gets_the_value_back(value: dict[str, object]) -> None:
    assert to_plain_data(read_toml("cluster.toml", render_toml(value))) == value


@given(st.dictionaries(TEXT, noted(NOTED_VALUE), max_size=4))
def test_comments_change_no_value(value: dict[str, object]) -> None:
    text = render_toml(value)

    assert tomllib.loads(text) == strip_comments(value)
    assert to_plain_data(read_toml("cluster.toml", text)) == strip_comments(value)


@given(st.dictionaries(TEXT, noted(NOTED_VALUE), max_size=4))
def test_no_comment_is_dropped(value: dict[str, object]) -> None:
    marked = _with_marked_comments(value)

    text = render_toml(marked[0])

    assert all(text.count(f"<{mark}>") == 1 for mark in range(marked[1]))


def _with_marked_comments(value: object, count: int = 0) -> tuple[object, int]:
    if isinstance(value, Commented):
        inner, after = _with_marked_comments(value.value, count + 3)
        marks = [f"<{count + index}>" for index in range(3)]
        return Commented(value=inner, above=(marks[0],), beside=marks[1], below=(marks[2],)), after
    if isinstance(value, dict):
        mapping: dict[object, object] = {}
        for key, item in value.items():
            mapping[key], count = _with_marked_comments(item, count)
        return mapping, count
    if isinstance(value, list):
        items: list[object] = []
        for item in value:
            one, count = _with_marked_comments(item, count)
            items.append(one)
        return items, count
    return (value.replace("<", "") if isinstance(value, str) else value), count


def test_the_layout_is_what_people_write() -> None:
    value = {
        "network": {"node_cidr": "127.66.0.0/24", "dns_servers": ["127.66.0.1"]},
        "kubernetes": {"api": {"addr": "127.66.0.10"}, "version": "1.32.0"},
        "nodes": [
            {"name": "a", "vm": {"cores": 4, "nics": [{"bridge": "vmbr0"}]}},
            {"name": "b"},
        ],
        "talos": {"patches": {"all": ["one: 1\ntwo: 2\n"]}},
        "components": {"a.b": {}},
    }

    assert render_toml(value) == (
        "[network]\n"
        'node_cidr = "127.66.0.0/24"\n'
        'dns_servers = ["127.66.0.1"]\n'
        "\n"
        "[kubernetes]\n"
        'version = "1.32.0"\n'
        "\n"
        "[kubernetes.api]\n"
        'addr = "127.66.0.10"\n'
        "\n"
        "[[nodes]]\n"
        'name = "a"\n'
        "\n"
        "[nodes.vm]\n"
        "cores = 4\n"
        "\n"
        "[[nodes.vm.nics]]\n"
        'bridge = "vmbr0"\n'
        "\n"
        "[[nodes]]\n"
        'name = "b"\n'
        "\n"
        "[talos.patches]\n"
        "all = [\n"
        '  """\n'
        "one: 1\n"
        "two: 2\n"
        '""",\n'
        "]\n"
        "\n"
        '[components."a.b"]\n'
    )


def test_comments_stand_above_beside_and_below() -> None:
    value = {
        "a": Commented(value=1, above=("first", "", "second"), beside="why", below=("end",)),
        "t": Commented(
            value={"x": Commented(value=[1, Commented(value=2, beside="two")], beside="list")},
            above=("table",),
            beside="head",
        ),
        "m": Commented(value=[Commented(value={"k": 1}, above=("item",))], above=("many",)),
    }

    assert render_toml(value) == (
        "# first\n\n# second\na = 1  # why\n# end\n"
        "\n# table\n[t]  # head\nx = [  # list\n  1,\n  2,  # two\n]\n"
        "\n# many\n# item\n[[m]]\nk = 1\n"
    )


def test_a_long_list_has_one_item_per_line() -> None:
    value = {"servers": [f"ntp-{number}.example.com" for number in range(5)]}

    assert render_toml(value).count("\n") == 7


def test_numbers_without_end_are_written_as_toml_knows_them() -> None:
    assert render_toml({"a": [math.inf, -math.inf, math.nan]}) == "a = [inf, -inf, nan]\n"


@pytest.mark.parametrize("value", [None, 3, {"a": None}, {1: "a"}, {"a": object()}])
def test_what_toml_has_no_place_for_is_refused(value: object) -> None:
    with pytest.raises(TypeError):
        render_toml(value)
